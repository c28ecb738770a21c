/** Something the person who started the demo can mend: the message says how, and is printed without a stack. */
export class DemoError extends Error {
  override readonly name: string = 'DemoError'
}

/** Another process uses the database's folder, most likely another demo. */
export class FolderInUseError extends DemoError {
  override readonly name = 'FolderInUseError'
}
