/**
 * Why a local server could not be given:
 * - `INVALID_OPTION`: an option has a value that is not allowed.
 * - `PLATFORM_UNSUPPORTED`: there are no embedded binaries for this system.
 * - `PROGRAM_MISSING`: the binaries asked for are not installed, or do not run.
 * - `NO_SERVER_USER`: running as root, and there is no other user to run Postgres as.
 * - `DATA_DIR_IN_USE`: another live process runs a server on the data folder.
 * - `DATA_DIR_FOREIGN`: the data folder holds something else, or a cluster of another major version.
 * - `INITDB_FAILED`: the cluster could not be created.
 * - `PORT_IN_USE`: the port asked for is taken.
 * - `START_FAILED`: the server ended or did not answer in time.
 * - `NOT_REACHABLE`: a server that somebody else runs does not answer.
 */
export type LocalPostgresErrorCode =
  | 'INVALID_OPTION'
  | 'PLATFORM_UNSUPPORTED'
  | 'PROGRAM_MISSING'
  | 'NO_SERVER_USER'
  | 'DATA_DIR_IN_USE'
  | 'DATA_DIR_FOREIGN'
  | 'INITDB_FAILED'
  | 'PORT_IN_USE'
  | 'START_FAILED'
  | 'NOT_REACHABLE'

/** The one error class of this package; the message says what to do. */
export class LocalPostgresError extends Error {
  override readonly name = 'LocalPostgresError'
  /** Which of the known reasons it is. */
  readonly code: LocalPostgresErrorCode

  constructor(code: LocalPostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
