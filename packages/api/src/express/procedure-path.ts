/**
 * The procedure that a path names: its last segment, so that no prefix matters. tRPC's own adapter finds nothing behind
 * a trailing slash, which proxies and link builders like to add, nor under a wildcard.
 *
 * @param base what Express has taken off as the mount's prefix: all of the path when the prefix ends in a wildcard.
 * @param path what is left.
 */
export function procedurePath(base: string, path: string): string {
  return lastSegment(path) || lastSegment(base)
}

function lastSegment(path: string): string {
  let end = path.length
  while (end > 0 && path[end - 1] === '/') end--
  return path.slice(path.lastIndexOf('/', end - 1) + 1, end)
}
