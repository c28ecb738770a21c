/** Whether a process of this id exists. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It exists and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
