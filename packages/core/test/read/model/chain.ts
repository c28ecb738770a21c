import { baseSnapshot } from '../../../src/cursor/cursor.ts'
import type { PagePlan, PlannedChange } from '../../../src/read/plan-page.ts'
import { BrokenPromise } from './broken-promise.ts'
import type { Database } from './database.ts'
import { floorOf, type Instant } from './log.ts'
import { pageView, type Request } from './page-view.ts'
import type { Planner } from './planner.ts'
import { headPosition, type Position, seenBy, startPosition, throughText } from './position.ts'
import { countVisits, type Visits } from './visits.ts'

/** What the chains of one schedule share. */
export interface Setting {
  readonly database: Database
  readonly planner: Planner
  readonly visits: Visits
}

/** A reader that hands each cursor back for the next page, with the checks that make up the promises of docs/cursor.md. A broken one is thrown. */
export class Chain {
  readonly #setting: Setting
  readonly #request: Request
  #position: Position

  constructor(setting: Setting, request: Request, position: Position) {
    this.#setting = setting
    this.#request = request
    this.#position = position
  }

  static from(where: 'start' | 'now', setting: Setting, request: Request, instant: Instant): Chain {
    const { planner, database } = setting
    const position =
      where === 'now' ? headPosition(planner, database, instant, request) : startPosition(planner, instant, request)
    return new Chain(setting, request, position)
  }

  /** Another reader with the same cursor: this one goes on, the other reads again from here. */
  fork(): Chain {
    const { given, lastOfRow } = this.#position
    this.#setting.visits['cursor read twice']++
    const position = { ...this.#position, given: new Set(given), lastOfRow: new Map(lastOfRow) }
    return new Chain(this.#setting, this.#request, position)
  }

  /** Reads a page in the snapshot of `instant`. */
  read(instant: Instant): PagePlan['kind'] | 'up to date' {
    const { database, planner, visits } = this.#setting
    const { cursor } = this.#position
    const view = pageView(planner, instant, cursor, this.#request)
    const plan = planner.planPage(cursor, view, this.#request.limit)
    countVisits(visits, cursor, view, plan)

    const latest = instant === database.instant()
    if (plan.kind === 'held' || !latest) {
      const mustWait = database.endedOnlyIn(baseSnapshot(cursor), instant.now)
      if (mustWait !== (plan.kind === 'held'))
        throw new BrokenPromise(mustWait ? 'not held in an older snapshot' : 'held for nothing')
      if (!latest && !mustWait) visits['served in an old snapshot']++
    }
    if (plan.kind === 'held') return 'held'
    if (plan.kind === 'pruned') {
      this.#checkPruned(instant)
      // As the answer advises: the client loads its rows anew and goes on from the oldest retained cursor.
      this.#position = startPosition(planner, instant, this.#request)
      return 'pruned'
    }
    this.#take(plan.changes)
    const next = throughText(plan.cursor)
    if (plan.hasMore && next.text === this.#position.text) throw new BrokenPromise('more to come, but the cursor stays')
    if (!plan.hasMore) this.#checkCut(instant)
    const { cutAt, servedAt, floorPassedAt } = this.#position
    this.#position = {
      ...this.#position,
      ...next,
      cutAt: plan.hasMore ? cutAt : instant.at,
      servedAt: Math.max(servedAt, instant.at),
      floorPassedAt: Math.max(floorPassedAt, floorOf(instant.floors, this.#request.audience).raisedAt),
    }
    return plan.hasMore ? 'page' : 'up to date'
  }

  /** Reads on when nobody writes any more: it must end, in at most as many pages as there are keys and entries to look at. */
  readToEnd(): void {
    const { database } = this.#setting
    let answer = this.read(database.instant())
    if (answer === 'pruned') answer = this.read(database.instant())
    const enough = 10 + 2 * (database.rowOfKey.length + database.history.length)
    for (let pages = 1; answer !== 'up to date'; pages++) {
      if (answer !== 'page') throw new BrokenPromise(`${answer}, although nothing happens any more`)
      if (pages > enough) throw new BrokenPromise('never up to date')
      answer = this.read(database.instant())
    }
  }

  #take(changes: readonly PlannedChange[]): void {
    const { history, rowOfKey } = this.#setting.database
    const { given, lastOfRow } = this.#position
    if (changes.length > this.#request.limit) throw new BrokenPromise('more changes than the limit')
    for (const { entry, ordinal, key } of changes) {
      const stored = history[Number(entry.id)]
      if (stored === undefined || ordinal < 0 || ordinal >= stored.logged.count)
        throw new BrokenPromise('a change that is none')
      const number = stored.firstKey + ordinal
      if (key !== (stored.logged.keys === null ? null : String(number)))
        throw new BrokenPromise('another key than its position says')
      if (given.has(number)) throw new BrokenPromise(`key ${number} of entry ${stored.id} comes again`)
      given.add(number)
      const row = rowOfKey[number] ?? -1
      if (row === -1) continue
      if ((lastOfRow.get(row) ?? -1) > number) throw new BrokenPromise(`changes of row ${row} out of order`)
      lastOfRow.set(row, number)
    }
  }

  // Up to date is a cut: exactly what the snapshot sees, and what pruning took is not among the missing.
  #checkCut(instant: Instant): void {
    const { audience, tables } = this.#request
    const { given, mayMiss } = this.#position
    for (const { id, tx, tenant, table, firstKey, logged } of seenBy(this.#setting.database, instant)) {
      if ((audience & (1 << tenant)) === 0 || (tables & (1 << table)) === 0) continue
      if (tx < mayMiss.below && id <= mayMiss.upTo) continue
      for (let i = 0; i < logged.count; i++) {
        const blanked = logged.keys !== null && logged.keys[i] === null
        if (!blanked && !given.has(firstKey + i) && !this.#passedBlanked(firstKey + i))
          throw new BrokenPromise(`up to date without key ${firstKey + i} of entry ${id}`)
      }
    }
  }

  // A chain can pass over a blanked key while it drains, and then be read in a snapshot from before compaction, which still sees that key. It does not
  // get it any more; the later change of the row comes with the first snapshot that sees it.
  #passedBlanked(key: number): boolean {
    return (this.#setting.database.blanked.get(key) ?? Infinity) <= this.#position.servedAt
  }

  // Only who may have lost something is told so: not above floors it was served above before, nor with a cut younger than the mark.
  #checkPruned(instant: Instant): void {
    const { raisedAt, markedAt } = floorOf(instant.floors, this.#request.audience)
    if (raisedAt <= this.#position.floorPassedAt) throw new BrokenPromise('pruned, although nothing was since')
    if (this.#position.cutAt >= markedAt) throw new BrokenPromise('pruned, although younger than the retention')
  }
}
