/** The error of an option that the process should not start with. */
export function wrongOption(option: string, message: string): TypeError {
  return new TypeError(`jwtAuth: "${option}" ${message}`)
}
