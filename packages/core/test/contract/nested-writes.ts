import { describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture } from '../support/bed.ts'
import { changesOf, lastWords } from '../support/changes.ts'

/**
 * An AFTER ROW trigger of the app that writes the table it stands on (docs/capture.md, rule 14). Row triggers tell the nested write after the outer one;
 * statement triggers, which `capture: 'statement'` keeps, tell it before.
 */
export function nestedWrites(bed: () => Bed): void {
  describe('nested writes', () => {
    let feed: AnyFeed
    const byRow = (): boolean => bed().level === 'row'
    const open = async (event: string, body: string, key = ''): Promise<void> => {
      await bed().reset()
      await bed().sql(
        `create table tasks (id int primary key ${key}, org text not null, v int, parent int);
         create function app.f() returns trigger language plpgsql as $f$ begin ${body} return null; end $f$;
         create trigger a_nested after ${event} on tasks for each row execute function app.f()`,
      )
      const declared = { tenant: 'org', key: 'id', capture: byRow() ? 'row' : 'statement' } as const
      feed = await capture(bed(), '', { tasks: declared })
      expect(await feed.verify()).toEqual([])
    }
    const told = (...statements: string[]): Promise<string[]> => changesOf(bed(), feed, ...statements)
    /** The order at each level. Whatever it is, nothing is missing. */
    const inOrder = (changes: string[], row: string[], statement: string[]): void => {
      expect(changes).toEqual(byRow() ? row : statement)
      expect(row.toSorted()).toEqual(statement.toSorted())
    }

    it('an insert that its trigger deletes again', async () => {
      await open('insert', 'if new.v < 0 then delete from tasks where id = new.id; end if;')
      inOrder(
        await told(`insert into tasks values (1, 'acme', -1)`),
        ['create tasks 1 @acme', 'delete tasks 1 @acme'],
        ['delete tasks 1 @acme', 'create tasks 1 @acme'],
      )
      expect(await bed().sql('select * from tasks')).toEqual([])
      if (!byRow()) return
      expect(
        lastWords(await told(`insert into tasks values (1, 'acme', -1), (2, 'acme', 0), (3, 'acme', -1)`)),
      ).toEqual(['tasks 1 deleted', 'tasks 2 present', 'tasks 3 deleted'])
    })

    it('an insert that its trigger moves to another tenant', async () => {
      await open('insert', `if new.v < 0 then update tasks set org = 'bolt', v = 0 where id = new.id; end if;`)
      inOrder(
        await told(`insert into tasks values (1, 'acme', -1)`),
        ['create tasks 1 @acme', 'delete tasks 1 @acme', 'create tasks 1 @bolt'],
        ['delete tasks 1 @acme', 'create tasks 1 @bolt', 'create tasks 1 @acme'],
      )
    })

    it('a delete that its trigger undoes under the same key', async () => {
      await open('delete', `if old.v > 0 then insert into tasks values (old.id, old.org, old.v - 1); end if;`)
      await bed().sql(`insert into tasks values (1, 'acme', 2)`)
      inOrder(
        await told('delete from tasks where id = 1'),
        ['delete tasks 1 @acme', 'create tasks 1 @acme'],
        ['create tasks 1 @acme', 'delete tasks 1 @acme'],
      )
    })

    it('an update that its trigger takes further, to a key of its own', async () => {
      await open('update', `if new.id < 100 then update tasks set id = new.id + 100 where id = new.id; end if;`)
      await bed().sql(`insert into tasks values (1, 'acme', 0)`)
      const changes = await told('update tasks set v = 1')
      expect(await bed().sql('select id, v from tasks')).toEqual([{ id: 101, v: 1 }])
      inOrder(
        changes,
        ['update tasks 1 @acme', 'delete tasks 1 @acme', 'create tasks 101 @acme'],
        ['delete tasks 1 @acme', 'create tasks 101 @acme', 'update tasks 1 @acme'],
      )
    })

    it('a tree that its trigger deletes from the top', async () => {
      await open('delete', 'delete from tasks where parent = old.id;')
      await bed().sql(
        `insert into tasks values (1, 'acme', 0, null), (2, 'acme', 0, 1), (3, 'acme', 0, 2), (4, 'acme', 0, 1)`,
      )
      const changes = await told('delete from tasks where id = 1')
      expect(changes.toSorted()).toEqual([1, 2, 3, 4].map((id) => `delete tasks ${id} @acme`))
      if (byRow()) expect(changes[0]).toBe('delete tasks 1 @acme')
    })

    it('an insert that its trigger follows by more inserts', async () => {
      await open('insert', `if new.id < 3 then insert into tasks values (new.id + 1, new.org); end if;`)
      inOrder(
        await told(`insert into tasks values (1, 'acme')`),
        ['create tasks 1 @acme', 'create tasks 2 @acme', 'create tasks 3 @acme'],
        ['create tasks 3 @acme', 'create tasks 2 @acme', 'create tasks 1 @acme'],
      )
    })

    it('a write to a row that the same statement has yet to tell stands before it: the known exception', async () => {
      await open('insert', 'if new.id = 5 then delete from tasks where id = 6; end if;')
      expect(await told(`insert into tasks values (5, 'acme'), (6, 'acme')`)).toEqual(
        byRow()
          ? ['create tasks 5 @acme', 'delete tasks 6 @acme', 'create tasks 6 @acme']
          : ['delete tasks 6 @acme', 'create tasks 5 @acme', 'create tasks 6 @acme'],
      )
      expect(await bed().sql('select id from tasks')).toEqual([{ id: 5 }])
    })

    it('a key that a later row frees, taken by the trigger of an earlier one: the same exception', async () => {
      await open('update', `if old.id = 1 and new.id = 11 then insert into tasks values (2, 'acme', 7); end if;`)
      await bed().sql(`insert into tasks values (1, 'acme', 0), (2, 'acme', 0)`)
      const changes = await told('update tasks set id = id + 10')
      expect(await bed().sql('select id from tasks order by id')).toEqual([{ id: 2 }, { id: 11 }, { id: 12 }])
      expect(changes.toSorted()).toEqual([
        'create tasks 11 @acme',
        'create tasks 12 @acme',
        'create tasks 2 @acme',
        'delete tasks 1 @acme',
        'delete tasks 2 @acme',
      ])
      expect(changes.indexOf('create tasks 2 @acme')).toBeLessThan(changes.indexOf('delete tasks 2 @acme'))
    })

    it('but not where the end of the transaction checks keys: a freed one is looked up there', async () => {
      await open(
        'update',
        `if old.id = 1 and new.id = 11 then insert into tasks values (2, 'acme', 7); end if;`,
        'deferrable',
      )
      await bed().sql(`insert into tasks values (1, 'acme', 0), (2, 'acme', 0)`)
      expect(lastWords(await told('update tasks set id = id + 10'))).toEqual([
        'tasks 1 deleted',
        'tasks 11 present',
        'tasks 12 present',
        'tasks 2 present',
      ])
    })

    it('a trigger that sorts first by name, or has row sets of its own, changes nothing of that', async () => {
      await open('insert', 'if new.v < 0 then delete from tasks where id = new.id; end if;')
      await bed().sql(
        `alter trigger a_nested on tasks rename to "#first"; create function app.g() returns trigger language plpgsql as $f$ begin return null; end $f$;
         create trigger sets after insert on tasks referencing new table as fresh for each row execute function app.g()`,
      )
      inOrder(
        await told(`insert into tasks values (1, 'acme', -1)`),
        ['create tasks 1 @acme', 'delete tasks 1 @acme'],
        ['delete tasks 1 @acme', 'create tasks 1 @acme'],
      )
    })

    it('in the replica role too, if the trigger fires there', async () => {
      await open('insert', 'if new.v < 0 then delete from tasks where id = new.id; end if;')
      await bed().sql('alter table tasks enable always trigger a_nested')
      await using session = await bed().session({ setup: 'set session_replication_role = replica' })
      inOrder(
        await changesOf({ ...bed(), sql: session.sql }, feed, `insert into tasks values (1, 'acme', -1)`),
        ['create tasks 1 @acme', 'delete tasks 1 @acme'],
        ['delete tasks 1 @acme', 'create tasks 1 @acme'],
      )
    })
  })
}
