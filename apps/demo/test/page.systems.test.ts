import { createTestDatabase, type TestDatabase } from '@tidemark/local-postgres/testing'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { pageRoutes } from '../src/server/http/page-routes.ts'
import { type Demo, startDemo } from '../src/server/start-demo.ts'
import { buildPage, startBrowser } from './support/browser.ts'
import { FEW_CITIES } from './support/demo.ts'
import { openSql, type SqlSession } from './support/sql.ts'
import { tempFolder } from './support/temp-folder.ts'

const HARBOUR = 'Harbour & Dale Freight'
const ALTIPLANO = 'Altiplano Cargo'

vi.setConfig({ testTimeout: 120_000 })
/** Shorter than a test may take, so that a failure names what was waited for. */
const PATIENCE_MS = 20_000

const secret = new TextEncoder().encode('a secret of the test, long enough for HS256')
let page: Awaited<ReturnType<typeof tempFolder>>
let browser: Browser
let database: TestDatabase
let demo: Demo
let sql: SqlSession
let context: BrowserContext
/** What no page may do: errors in its console, requests to anybody else. */
let faults: string[]

beforeAll(async () => {
  page = await tempFolder()
  await buildPage(page.path)
  browser = await startBrowser()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await page?.[Symbol.asyncDispose]()
})

function start(port: number): Promise<Demo> {
  return startDemo({
    database: { kind: 'given', url: database.url },
    cities: FEW_CITIES,
    host: '127.0.0.1',
    port: { number: port, orNext: false },
    page: pageRoutes(page.path),
    secret,
  })
}

beforeEach(async () => {
  database = await createTestDatabase()
  demo = await start(0)
  sql = await openSql(database.url)
  context = await browser.newContext({ viewport: { width: 1360, height: 900 } })
  context.setDefaultTimeout(PATIENCE_MS)
  faults = []
})
afterEach(async () => {
  await context.close()
  await sql[Symbol.asyncDispose]()
  await demo.stop()
  await database.drop()
})

/** A tab of the one browser, signed in and following. */
async function openTab(company: string): Promise<Page> {
  const tab = await context.newPage()
  tab.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  tab.on('pageerror', (error) => faults.push(String(error)))
  tab.on('request', (request) => {
    if (!request.url().startsWith(demo.url)) faults.push(request.url())
  })
  await tab.goto(demo.url)
  await enter(tab, company)
  return tab
}

async function enter(tab: Page, company: string): Promise<void> {
  await tab.getByRole('button', { name: company }).click()
  await isFollowing(tab)
}

/** Following has begun, and what that made the page read has been read. */
async function isFollowing(tab: Page): Promise<void> {
  await tab.getByText('Following from here on').waitFor()
  await tab.getByText('Up to date').waitFor()
  await tab.locator('section[aria-busy="false"]').waitFor()
}

function rows(tab: Page): Locator {
  return tab.getByRole('list', { name: 'Shipments' }).getByRole('listitem')
}

async function reads(tab: Page): Promise<number> {
  return Number(await tab.getByTestId('reads').textContent())
}

test('a shipment booked in one tab shows in the company’s other tab and not in the other company’s', async () => {
  const here = await openTab(HARBOUR)
  const there = await openTab(HARBOUR)
  const elsewhere = await openTab(ALTIPLANO)
  const readsElsewhere = await reads(elsewhere)

  // By keyboard alone, from the field on.
  await here.getByRole('combobox', { name: 'From' }).focus()
  await here.keyboard.type('rotterd')
  await here.getByRole('option', { name: 'Rotterdam Netherlands' }).waitFor()
  await here.keyboard.press('Enter')
  await here.keyboard.press('Tab')
  await here.keyboard.type('sao p')
  await here.getByRole('option', { name: 'São Paulo Brazil' }).waitFor()
  await here.keyboard.press('Enter')
  await here.keyboard.press('Tab')
  await here.keyboard.type('Tulips for the fair')
  await here.keyboard.press('Tab')
  await here.keyboard.type('1250')
  await here.keyboard.press('Enter')
  await here.getByText(/^Shipment #\d+ is booked\.$/).waitFor()

  const row = rows(there).filter({ hasText: 'Tulips for the fair' })
  await row.waitFor()
  expect(await row.textContent()).toMatch(/#\d+.*Rotterdam.*NL.*São Paulo.*BR.*1,250 kg · 9,\d{3} km.*Booked/)
  await there
    .getByRole('log')
    .getByText(/^Shipment \d+ created$/)
    .waitFor()

  // And it moves on from there to here.
  await row.getByRole('button', { name: 'Collect shipment' }).click()
  await rows(here).filter({ hasText: 'Tulips for the fair' }).getByText('Collected', { exact: true }).waitFor()

  // The other company hears of its own next change, and of none of these before.
  await sql.run(`update shipments set cargo = 'Wool, carded' where cargo = 'Wool, scoured'`)
  await rows(elsewhere).filter({ hasText: 'Wool, carded' }).waitFor()
  expect(await elsewhere.getByText('Tulips').count()).toBe(0)
  expect(await elsewhere.getByRole('log').getByRole('listitem').count()).toBe(2)
  expect(await reads(elsewhere)).toBe(readsElsewhere + 1)
  expect(faults).toEqual([])
})

test('writes by plain SQL appear by themselves: rows, notes in an open list, and the name of a city everywhere', async () => {
  const tab = await openTab(HARBOUR)
  const other = await openTab(ALTIPLANO)
  const steel = rows(tab).filter({ hasText: 'Steel coil' })
  await steel.getByRole('button', { name: 'Notes' }).click()
  await steel.getByText('Side gate is confirmed.').waitFor()

  await sql.run(
    `insert into notes (company_id, shipment_id, body) select company_id, id, 'Written by SQL' from shipments where cargo = 'Steel coil'`,
  )
  await steel.getByText('Written by SQL').waitFor()
  await steel.getByRole('button', { name: 'Notes 3' }).waitFor()

  await sql.run(`update shipments set status = 'delivered' where cargo = 'Steel coil'`)
  await steel.getByText('Delivered', { exact: true }).waitFor()
  await tab.getByRole('button', { name: 'Delivered 3' }).click()
  await rows(tab).filter({ hasText: 'Tulip bulbs' }).waitFor({ state: 'detached' })
  expect(await rows(tab).filter({ hasText: 'kg' }).count()).toBe(3)
  await sql.run(`delete from shipments where cargo = 'Steel coil'`)
  await tab.getByRole('button', { name: 'Delivered 2' }).waitFor()
  await rows(tab).filter({ hasText: 'Steel coil' }).waitFor({ state: 'detached' })

  const [city] = await sql.run<{ id: number }>(
    `update cities set name = 'Santiago de Nueva Extremadura' where name = 'Santiago' and country = 'CL' returning id`,
  )
  await rows(other).filter({ hasText: 'Santiago de Nueva Extremadura' }).waitFor()
  await tab
    .getByRole('log')
    .getByRole('listitem')
    .filter({ hasText: `City ${city?.id} changed` })
    .getByText('everyone')
    .waitFor()
  expect(faults).toEqual([])
})

test('after signing out and in as the other company nothing of the former is there', async () => {
  const tab = await openTab(HARBOUR)
  await sql.run(`update shipments set cargo = 'A secret of Harbour & Dale' where cargo = 'Tulip bulbs'`)
  await rows(tab).filter({ hasText: 'A secret of Harbour & Dale' }).waitFor()

  await tab.getByRole('button', { name: 'Sign out' }).click()
  await tab.getByRole('heading', { name: 'Who are you today?' }).waitFor()
  expect(await tab.evaluate(() => [sessionStorage.length, localStorage.length, document.cookie])).toEqual([0, 0, ''])
  await enter(tab, ALTIPLANO)

  await rows(tab).filter({ hasText: 'Wool, scoured' }).waitFor()
  const shown = await tab.locator('body').textContent()
  expect(shown).not.toMatch(/Harbour|secret|Steel coil/)
  expect(await tab.getByRole('log').getByRole('listitem').allTextContents()).toEqual([
    expect.stringContaining('Following from here on'),
  ])
  expect(faults).toEqual([])
})

test('a reload stays signed in; a server that comes back is followed again by itself', async () => {
  const tab = await openTab(ALTIPLANO)
  await tab.reload()
  await isFollowing(tab)
  await tab.getByText(ALTIPLANO).waitFor()
  expect(faults).toEqual([])

  const port = Number(new URL(demo.url).port)
  await demo.stop()
  await tab.getByText('Trying again: the server does not answer').waitFor()
  await sql.run(`update shipments set cargo = 'Written meanwhile' where cargo = 'Wool, scoured'`)
  demo = await start(port)
  await rows(tab).filter({ hasText: 'Written meanwhile' }).waitFor()
  await tab.getByText('Up to date').waitFor()

  await context.setOffline(true)
  await tab.getByText('Offline: goes on when the network is back').waitFor()
  await context.setOffline(false)
  await tab.getByText('Up to date').waitFor()
})

test('a form that is not complete says what is missing and leads there; credit is given; a narrow page does not scroll sideways', async () => {
  const tab = await openTab(HARBOUR)
  await tab.getByRole('button', { name: 'Book shipment' }).click()
  const from = tab.getByRole('combobox', { name: 'From' })
  expect(await from.getAttribute('aria-invalid')).toBe('true')
  await tab.waitForFunction(() => document.activeElement?.getAttribute('role') === 'combobox')
  expect(await tab.getByText('Choose a city from the list').count()).toBe(2)
  await tab.getByText('Say what is sent').waitFor()

  expect(await tab.getByRole('link', { name: 'GeoNames' }).getAttribute('href')).toBe('https://www.geonames.org/')
  expect(await tab.getByRole('link', { name: 'CC BY 4.0' }).getAttribute('href')).toBe(
    'https://creativecommons.org/licenses/by/4.0/',
  )
  for (const width of [320, 390, 768, 1024]) {
    await tab.setViewportSize({ width, height: 800 })
    expect(await tab.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
  }
  expect(faults).toEqual([])
})
