import { expect, test } from 'vitest'
import { plainName } from '../src/server/database/plain-name.ts'
import { distanceKm } from '../src/shared/distance.ts'
import { nextStatuses, previousStatuses, shipmentStatuses } from '../src/shared/shipment-status.ts'

test.each([
  ['São Paulo', 'sao paulo'],
  ['Łódź', 'lodz'],
  ['Ærøskøbing', 'aeroskobing'],
  ['Gießen', 'giessen'],
  ["'Ali Sabieh", 'ali sabieh'],
  ['Al ‘Ulayb', 'al ulayb'],
  ['Għajnsielem', 'ghajnsielem'],
  ['Heydərabad', 'heydarabad'],
  ['Diyarbakır', 'diyarbakir'],
])('the plain name of %s is %s', (name, plain) => {
  expect(plainName(name)).toBe(plain)
})

test('distances are those of the globe', () => {
  const london = { latitude: 51.5074, longitude: -0.1278 }
  const newYork = { latitude: 40.7128, longitude: -74.006 }
  expect(distanceKm(london, london)).toBe(0)
  expect(distanceKm(london, newYork)).toBe(5570)
  expect(distanceKm(newYork, london)).toBe(5570)
  // A quarter of a meridian.
  expect(distanceKm({ latitude: 90, longitude: 0 }, { latitude: 0, longitude: 77 })).toBe(10_008)
  // Half the globe, where rounding could leave the domain of asin.
  expect(distanceKm({ latitude: 0, longitude: 0 }, { latitude: 0, longitude: 180 })).toBe(20_015)
})

test('previous statuses are the next ones backwards', () => {
  for (const from of shipmentStatuses) {
    for (const to of shipmentStatuses) expect(previousStatuses(to).includes(from)).toBe(nextStatuses[from].includes(to))
  }
})
