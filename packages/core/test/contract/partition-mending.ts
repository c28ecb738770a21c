import { beforeEach, describe, expect, it } from 'vitest'
import { untrack } from '../../src/index.ts'
import { type AnyFeed, type Bed, capture, quoted } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { announced, startUp } from '../support/start-up.ts'
import { byRegion, regions } from './partitions.ts'

/** Damage to the capture of single partitions, and its end (docs/capture.md, "Row triggers"). */
export function partitionMending(bed: () => Bed): void {
  describe('the capture of single partitions', () => {
    let feed: AnyFeed
    beforeEach(async () => {
      await bed().reset()
      feed = await capture(bed(), regions, byRegion)
    })
    const trigger = (operation: string): string => quoted(`!${bed().feedSchema}_${operation}`)
    /** Triggers of the feed, each as `table name enabled`. */
    const triggers = async (): Promise<unknown> =>
      (
        await bed().sql(
          `select format('%s %s %s', tgrelid::regclass, right(tgname, 1), tgenabled) as line from pg_trigger where tgname ~ '^!' order by 1`,
        )
      ).map(({ line }) => line)

    it.each([
      [
        'all triggers of one disabled',
        () => `alter table tb disable trigger all`,
        'insert trigger of partition "app"."tb" is not enabled always',
      ],
      [
        'all triggers of one enabled, which puts them back to origin',
        () => `alter table tm_n enable trigger all`,
        'insert trigger of partition "app"."tm_n" is not enabled always',
      ],
      [
        'one copy disabled',
        () => `alter table ta disable trigger ${trigger('d')}`,
        'delete trigger of partition "app"."ta" is not enabled always',
      ],
      [
        "one's truncate trigger dropped",
        () => `drop trigger ${trigger('t')} on tm`,
        'truncate trigger of partition "app"."tm" is missing',
      ],
      [
        'all triggers of the parent enabled',
        () => `alter table t enable trigger all`,
        'insert trigger is not enabled always',
      ],
      [
        'all triggers of the parent alone enabled',
        () => `alter table only t enable trigger all`,
        'insert trigger is not enabled always',
      ],
      ['the triggers of the parent dropped', () => `drop trigger ${trigger('u')} on t`, 'update trigger is missing'],
      [
        "one's truncate trigger replaced",
        () =>
          `create or replace trigger ${trigger('t')} before truncate on tb for each statement execute function ${quoted(bed().feedSchema)}.c1_t(); alter table tb enable always trigger ${trigger('t')}`,
        'truncate trigger of partition "app"."tb" was altered',
      ],
    ])('%s: found, mended and announced', async (_, damage, problem) => {
      const before = await triggers()
      await bed().sql(damage())
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'trigger', problem))
      expect(await triggers()).toEqual(before)
    })

    it('untrack() takes everything off all partitions, and off those that were detached', async () => {
      const traces = async (): Promise<unknown> =>
        await bed().sql(
          `select tgrelid::regclass::text as what from pg_trigger where tgname ~ '^!' union all select proname::text from pg_proc where proname ~ '^c1_'
           union all select polname::text from pg_policy where polname ~ '^!'
           union all select attname::text from pg_attribute a join pg_class c on c.oid = a.attrelid where c.relnamespace = 'app'::regnamespace and attacl::text like '%capture%'`,
        )
      expect(((await traces()) as unknown[]).length).toBeGreaterThan(20)
      await bed().sql(`alter table t detach partition tb; create table tc partition of t for values in ('c')`)
      await untrack(feed, 't')
      expect(await traces()).toEqual([])
      expect(await feed.verify()).toMatchObject([{ code: 'notCaptured' }])
    })

    it('partitions in other schemas and under odd names', async () => {
      await bed().sql(
        `create schema "parts of ""t"""; create table "parts of ""t""".${quoted('p "$1" %s ü'.padEnd(50, 'x'))} partition of t for values in ('c'); insert into t values (1, 'c', 'acme')`,
      )
      try {
        expect(await startUp(bed(), feed)).toEqual(announced('t', 'rowsChanged', 'partition "p "$1"'))
        expect(
          await changesOf(bed(), feed, `truncate "parts of ""t""".${quoted('p "$1" %s ü'.padEnd(50, 'x'))}`),
        ).toEqual(['invalidate t *'])
        await untrack(feed, 't')
        expect(await triggers()).toEqual([])
      } finally {
        await bed().sql('drop schema "parts of ""t""" cascade')
      }
    })
  })
}
