/** What the model throws when the planner breaks one of the feed's promises; anything else that is thrown is a defect of the test. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise'
}
