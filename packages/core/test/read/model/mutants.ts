/** A defect put into the planner's source. */
export interface Mutant {
  readonly name: string
  /** Path below `src`. */
  readonly file: 'read/plan-page.ts' | 'cursor/cursor.ts' | 'cursor/snapshot.ts'
  /** Text that stands in the file exactly once. */
  readonly find: string
  readonly replace: string
  /** What goes wrong. */
  readonly why: string
}

const plan = 'read/plan-page.ts'
const snapshot = 'cursor/snapshot.ts'

// Not in the list, because no schedule can tell them from the original:
// - `hw` of an exhaustive page without `cursor.hw`, or without the floor: a cursor below the floor has no page, and all ids up to `hw` are visible, pruned or
//   superseded by a visible later one. So the largest of the other two is the same. Without both it is caught.
// - `unsettledIn` without its upper bound, or with one that is too large: no transaction above the bound owns an entry up to `hw`. It costs time, and the
//   tests of the read statement's plans look at that.
// - `a.xmax > b.xmax` in `dominates`: with equal ones the count gives the same answer. `x > a.xmax` in its count: the last transaction below a real xmax has
//   ended, so on a primary the gap is never all in progress; the tests of `snapshot.ts` cover it.
export const mutants: readonly Mutant[] = [
  // Held
  {
    name: 'never held',
    file: plan,
    find: "if (!dominates(view.now, baseSnapshot(cursor))) return { kind: 'held' }",
    replace: '',
    why: 'an older snapshot takes the cursor backwards: changes come again',
  },
  {
    name: 'held by the snapshot below the drain',
    file: 'cursor/cursor.ts',
    find: 'return cursor.drain === null ? cursor.snap : cursor.drain.to',
    replace: 'return cursor.snap',
    why: 'a drain is read on in a snapshot that does not see all of it',
  },
  {
    name: 'dominates ignores the gap above xmax',
    file: snapshot,
    find: 'return b.xmax - a.xmax === BigInt(inGap)',
    replace: 'return true',
    why: 'a snapshot from before the latest transaction ended is taken for a newer one',
  },
  {
    name: 'dominates ignores the transactions in progress',
    file: snapshot,
    find: 'for (const x of a.xip) if (settled(x, b)) return false',
    replace: '',
    why: 'a snapshot in which a transaction still runs that had ended for the cursor is read',
  },
  {
    name: 'settled ignores the transactions in progress',
    file: snapshot,
    find: 'return x < s.xmax && !s.xip.includes(x)',
    replace: 'return x < s.xmax',
    why: 'a running transaction counts as ended: held for nothing',
  },
  {
    name: 'settled includes xmax',
    file: snapshot,
    find: 'return x < s.xmax && !s.xip.includes(x)',
    replace: 'return x <= s.xmax && !s.xip.includes(x)',
    why: 'the first transaction that had not ended counts as ended: held for nothing',
  },
  // Pruned
  {
    name: 'pruned ignores the id',
    file: plan,
    find: 'cursor.hw < view.floor.id || cursor.snap.xmin <= view.floor.xid',
    replace: 'cursor.snap.xmin <= view.floor.xid',
    why: 'pruned entries above the high-water mark are stepped over',
  },
  {
    name: 'pruned ignores the transaction',
    file: plan,
    find: 'cursor.hw < view.floor.id || cursor.snap.xmin <= view.floor.xid',
    replace: 'cursor.hw < view.floor.id',
    why: 'pruned stragglers are stepped over',
  },
  {
    name: 'pruned off by one transaction',
    file: plan,
    find: 'cursor.snap.xmin <= view.floor.xid',
    replace: 'cursor.snap.xmin < view.floor.xid',
    why: 'a pruned straggler that is the oldest transaction of its snapshot is stepped over',
  },
  {
    name: 'pruned off by one id',
    file: plan,
    find: 'cursor.hw < view.floor.id',
    replace: 'cursor.hw <= view.floor.id',
    why: 'a reader that has all is told to begin anew',
  },
  {
    name: 'pruned looks at xmax',
    file: plan,
    find: 'cursor.snap.xmin <= view.floor.xid',
    replace: 'cursor.snap.xmax <= view.floor.xid',
    why: 'pruned stragglers of transactions that were in progress are stepped over',
  },
  // Stragglers and drains
  {
    name: 'a straggler cut does not drain',
    file: plan,
    find: 'const drain = { to: cursor.drain?.to ?? view.now, after: stragglersCut.id, part: stragglersCut.part }',
    replace: 'const drain = null',
    why: 'the same stragglers come for ever',
  },
  {
    name: 'a drain moves its snapshot',
    file: plan,
    find: 'to: cursor.drain?.to ?? view.now',
    replace: 'to: view.now',
    why: 'stragglers that committed meanwhile below the position of the drain are lost',
  },
  {
    name: 'a drain forgets its part',
    file: plan,
    find: 'part: stragglersCut.part }',
    replace: 'part: 0 }',
    why: 'keys of an entry that was cut come again',
  },
  {
    name: 'a drain begins without the part of hw',
    file: plan,
    find: 'cursor: { ...cursor, drain }',
    replace: 'cursor: { ...cursor, part: 0, drain }',
    why: 'keys of the entry above hw come again',
  },
  {
    name: 'a drain ends in the latest snapshot',
    file: plan,
    find: 'snap: cursor.drain.to, drain: null',
    replace: 'snap: view.now, drain: null',
    why: 'what committed during the drain below hw is lost',
  },
  {
    name: 'a drain ends in the snapshot it began with',
    file: plan,
    find: 'snap: cursor.drain.to, drain: null',
    replace: 'drain: null',
    why: 'the drained stragglers come again',
  },
  {
    name: 'a drain ends without the part of hw',
    file: plan,
    find: 'snap: cursor.drain.to, drain: null',
    replace: 'part: 0, snap: cursor.drain.to, drain: null',
    why: 'keys of the entry above hw come again',
  },
  {
    name: 'a drain does not end',
    file: plan,
    find: 'if (cursor.drain !== null) {',
    replace: 'if (cursor.drain === undefined) {',
    why: 'fresh entries were not looked at, but count as none',
  },
  {
    name: 'a drain goes on one entry too late',
    file: plan,
    find: 'after: stragglersCut.id,',
    replace: 'after: stragglersCut.id + 1n,',
    why: 'the rest of the entry that was cut is lost',
  },
  {
    name: 'up to date after a drain',
    file: plan,
    find: 'drain: null }, hasMore: true }',
    replace: 'drain: null }, hasMore: false }',
    why: 'entries above hw are not delivered yet',
  },
  // Fresh entries
  {
    name: 'a fresh cut forgets its part',
    file: plan,
    find: 'part: freshCut.part, snap',
    replace: 'part: 0, snap',
    why: 'keys of an entry that was cut come again',
  },
  {
    name: 'a fresh cut keeps the snapshot',
    file: plan,
    find: 'part: freshCut.part, snap: view.now',
    replace: 'part: freshCut.part, snap: cursor.snap',
    why: 'what the page delivered counts as unseen and comes again as stragglers',
  },
  {
    name: 'up to date although cut',
    file: plan,
    find: 'cursor: next, hasMore: true }',
    replace: 'cursor: next, hasMore: false }',
    why: 'entries behind the cut are not delivered yet',
  },
  {
    name: 'an exhaustive page stays at its hw',
    file: plan,
    find: 'largest(cursor.hw, view.max, view.floor.id)',
    replace: 'largest(cursor.hw, view.floor.id)',
    why: 'everything above hw comes again',
  },
  {
    name: 'an exhaustive page goes back to the largest visible id',
    file: plan,
    find: 'largest(cursor.hw, view.max, view.floor.id)',
    replace: 'view.max',
    why: 'a reader that has all is told to begin anew, because the newest entries are pruned',
  },
  {
    name: 'an exhaustive page keeps the part',
    file: plan,
    find: 'cursor: { hw, part: 0, snap: view.now, drain: null }, hasMore: false',
    replace: 'cursor: { hw, part: cursor.part, snap: view.now, drain: null }, hasMore: false',
    why: 'keys of the next entry are stepped over',
  },
  {
    name: 'an exhaustive page keeps the snapshot',
    file: plan,
    find: 'cursor: { hw, part: 0, snap: view.now, drain: null }, hasMore: false',
    replace: 'cursor: { hw, part: 0, snap: cursor.snap, drain: null }, hasMore: false',
    why: 'stragglers come again',
  },
  // Cuts
  {
    name: 'a cut behind the entry it is in',
    file: plan,
    find: 'if (changes.length >= limit) return { id: entry.id - 1n, part: ordinal }',
    replace: 'if (changes.length >= limit) return { id: entry.id, part: ordinal }',
    why: 'the rest of the entry is lost',
  },
  {
    name: 'a part one too large',
    file: plan,
    find: 'if (changes.length >= limit) return { id: entry.id - 1n, part: ordinal }',
    replace: 'if (changes.length >= limit) return { id: entry.id - 1n, part: ordinal + 1 }',
    why: 'a key is stepped over',
  },
  {
    name: 'one change more than the limit',
    file: plan,
    find: 'if (changes.length >= limit) return',
    replace: 'if (changes.length > limit) return',
    why: 'the page is larger than asked for',
  },
  {
    name: 'blanked keys have no ordinal',
    file: plan,
    find: 'const ordinal = entry.from + i',
    replace: 'const ordinal = entry.from + keys.slice(0, i).filter((k) => k !== null).length',
    why: 'positions shift once a key is blanked',
  },
  {
    name: 'blanked keys are delivered',
    file: plan,
    find: 'if (key === null && entry.keys !== null) continue',
    replace: '',
    why: 'a change without a key is given out',
  },
  {
    name: 'table-level entries are passed over',
    file: plan,
    find: 'if (key === null && entry.keys !== null) continue',
    replace: 'if (key === null) continue',
    why: 'they are lost',
  },
  {
    name: 'an entry counts as taken though its keys were cut',
    file: plan,
    find: 'if (reached < entry.count) return { id: entry.id - 1n, part: reached }',
    replace: '',
    why: 'keys that the statement left out are lost',
  },
  {
    name: 'a list is always at its end',
    file: plan,
    find: 'return list.exhausted ? null : { id: list.lastId, part: 0 }',
    replace: 'return null',
    why: 'what lies behind the last examined entry is lost',
  },
  {
    name: 'a list that is not at its end is cut behind its last wanted entry',
    file: plan,
    find: 'return list.exhausted ? null : { id: list.lastId, part: 0 }',
    replace: 'return list.exhausted ? null : { id: list.entries.at(-1)?.id ?? 0n, part: 0 }',
    why: 'a page of unwanted entries only leads back to the beginning',
  },
  // Where chains begin
  {
    name: 'the head ignores the floor',
    file: plan,
    find: 'hw: largest(view.max, view.floor.id)',
    replace: 'hw: view.max',
    why: 'a new reader is told to begin anew, because the newest entries are pruned',
  },
  {
    name: 'the head settles all below xmax',
    file: plan,
    find: 'part: 0, snap: view.now, drain: null }\n}\n\n/** The oldest',
    replace: 'part: 0, snap: everythingBelow(view.now.xmax), drain: null }\n}\n\n/** The oldest',
    why: 'what was in progress at the start is lost',
  },
  {
    name: 'the head settles all below xmin',
    file: plan,
    find: 'part: 0, snap: view.now, drain: null }\n}\n\n/** The oldest',
    replace: 'part: 0, snap: everythingBelow(view.now.xmin), drain: null }\n}\n\n/** The oldest',
    why: 'changes from before the start are delivered',
  },
  {
    name: 'the oldest cursor is behind the floor',
    file: plan,
    find: 'everythingBelow(view.floor.xid + 1n)',
    replace: 'everythingBelow(view.floor.xid)',
    why: 'a new reader is told to begin anew',
  },
  {
    name: 'the oldest cursor is above the floor',
    file: plan,
    find: 'everythingBelow(view.floor.xid + 1n)',
    replace: 'everythingBelow(view.floor.xid + 2n)',
    why: 'what a long writer left below the floor is lost',
  },
  // Which stragglers are looked for
  {
    name: 'no straggler above xmax',
    file: snapshot,
    find: 'for (let x = s.xmax; x < s.next; x++) list.push(x)',
    replace: '',
    why: 'a transaction that ran above xmax is lost',
  },
  {
    name: 'no straggler that is xmax',
    file: snapshot,
    find: 'for (let x = s.xmax; x < s.next; x++) list.push(x)',
    replace: 'for (let x = s.xmax + 1n; x < s.next; x++) list.push(x)',
    why: 'the first transaction above the latest that ended is lost',
  },
  {
    name: 'the last straggler below the bound is left out',
    file: snapshot,
    find: 'for (let x = s.xmax; x < s.next; x++) list.push(x)',
    replace: 'for (let x = s.xmax; x < s.next - 1n; x++) list.push(x)',
    why: 'the youngest transaction is lost',
  },
  {
    name: 'no straggler that was in progress',
    file: snapshot,
    find: 'const list = [...s.xip]',
    replace: 'const list: bigint[] = []',
    why: 'a transaction that was in progress is lost',
  },
  {
    name: 'no straggler that was in progress beside a wide range',
    file: snapshot,
    find: 'return { list: s.xip, from: s.xmax, below: s.next }',
    replace: 'return { list: [], from: s.xmax, below: s.next }',
    why: 'a transaction that was in progress is lost',
  },
  {
    name: 'a wide range begins one too late',
    file: snapshot,
    find: 'return { list: s.xip, from: s.xmax, below: s.next }',
    replace: 'return { list: s.xip, from: s.xmax + 1n, below: s.next }',
    why: 'the first transaction above the latest that ended is lost',
  },
  {
    name: 'a wide range ends one too early',
    file: snapshot,
    find: 'return { list: s.xip, from: s.xmax, below: s.next }',
    replace: 'return { list: s.xip, from: s.xmax, below: s.next === null ? null : s.next - 1n }',
    why: 'the youngest transaction is lost',
  },
]
