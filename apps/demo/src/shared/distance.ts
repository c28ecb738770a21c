/** A place on the globe, in degrees. */
export interface Place {
  readonly latitude: number
  readonly longitude: number
}

const EARTH_RADIUS_KM = 6371

/** Great-circle distance in whole kilometres. */
export function distanceKm(from: Place, to: Place): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180
  const half = (a: number, b: number): number => Math.sin(radians(b - a) / 2) ** 2
  const across = Math.cos(radians(from.latitude)) * Math.cos(radians(to.latitude))
  const chord = half(from.latitude, to.latitude) + across * half(from.longitude, to.longitude)
  return Math.round(2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(chord))))
}
