// @ts-check
// Shops: the list, and one shop with its week, special hours and holidays.
import { get, post, put, read, remove } from '../lib/api.js';
import { date, dateTime } from '../lib/format.js';
import { html } from '../lib/html.js';
import { language, t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { editRecord, RecordPage } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { idOf, Table } from '../lib/table.js';
import { options, tables, worded } from '../lib/tables.js';
import { Badge, Card, Facts, Page } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/shops/{id}', 'get'>['shop']} Shop */
/** @typedef {import('../lib/record.js').Resource} Resource */

const WEEK = ['1', '2', '3', '4', '5', '6', '7'];
/** Monday, to take the names of the days from. */
const MONDAY = Date.UTC(2024, 0, 1);

/** The name of a day of the week, 1 is Monday. @param {string | number} day */
const dayName = (day) => new Intl.DateTimeFormat(language.get(), { weekday: 'long', timeZone: 'UTC' }).format(MONDAY + (Number(day) - 1) * 86400000);

/** @type {Resource} */
const resource = {
  title: 'shop.new',
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255 },
    { name: 'branch_id', kind: 'choice', required: true, options: options.branches },
    { name: 'address', kind: 'text', required: true, max: 500, wide: true },
    { name: 'phone', kind: 'phone' },
    { name: 'time_zone', kind: 'text', hint: 'shop.zoneHint' },
    { name: 'latitude', kind: 'text' },
    { name: 'longitude', kind: 'text' },
    { name: 'is_active', kind: 'check' },
  ],
  empty: { is_active: true },
  async read(id, options) {
    const { body: { shop }, etag } = await read('/api/shops/{id}', { id }, options);
    return { record: { ...shop, branch_id: shop.branch.id }, etag };
  },
  create: async (values) => (await post('/api/shops', {}, values)).shop.id,
  update: (id, changes, options) => put('/api/shops/{id}', { id }, changes, options),
  remove: (id, options) => remove('/api/shops/{id}', { id }, options),
};

/** @type {import('../lib/form.js').FieldSpec[]} */
const times = [
  { name: 'opens_at', kind: 'text', max: 5, required: true, hint: 'shop.timeHint' },
  { name: 'closes_at', kind: 'text', max: 5, required: true },
];

/** Opening hours, special hours and holidays of a shop. Holidays have no version. @param {Shop} shop @returns {Record<'hours' | 'exceptions' | 'holidays', Resource>} */
const parts = (shop) => ({
  hours: {
    title: 'shop.hoursNew',
    fields: [{ name: 'weekday', kind: 'choice', required: true, wide: true, options: async () => (await worded(dayName, WEEK)()).map(({ value, label }) => ({ value: Number(value), label })) }, ...times],
    async read(hour_id, options) {
      const { body, etag } = await read('/api/shops/{id}/hours/{hour_id}', { id: shop.id, hour_id }, options);
      return { record: body.hour, etag };
    },
    create: async (values) => (await post('/api/shops/{id}/hours', { id: shop.id }, values)).hour.id,
    update: (hour_id, _, options, values) => put('/api/shops/{id}/hours/{hour_id}', { id: shop.id, hour_id }, values, options),
    remove: (hour_id, options) => remove('/api/shops/{id}/hours/{hour_id}', { id: shop.id, hour_id }, options),
  },
  exceptions: {
    title: 'shop.exceptionNew',
    fields: [{ name: 'date', kind: 'date', required: true }, { name: 'note', kind: 'text', max: 250 }, ...times.map((field) => ({ ...field, required: false, hint: 'shop.closedHint' }))],
    async read(exception_id, options) {
      const { body, etag } = await read('/api/shops/{id}/exceptions/{exception_id}', { id: shop.id, exception_id }, options);
      return { record: body.exception, etag };
    },
    create: async (values) => (await post('/api/shops/{id}/exceptions', { id: shop.id }, values)).exception.id,
    update: (exception_id, _, options, values) => put('/api/shops/{id}/exceptions/{exception_id}', { id: shop.id, exception_id }, values, options),
    remove: (exception_id, options) => remove('/api/shops/{id}/exceptions/{exception_id}', { id: shop.id, exception_id }, options),
  },
  holidays: {
    title: 'shop.holidayNew',
    fields: [{ name: 'date', kind: 'date', required: true }, { name: 'name', kind: 'text', max: 255 }, { name: 'is_yearly', kind: 'check' }],
    read: async (id) => ({ record: { ...shop.holidays.find((one) => one.id === id) }, etag: '' }),
    create: async (values) => (await post('/api/shops/{id}/holidays', { id: shop.id }, values)).holiday.id,
    update: (holiday_id, _, options, values) => put('/api/shops/{id}/holidays/{holiday_id}', { id: shop.id, holiday_id }, values, options),
    remove: (holiday_id, options) => remove('/api/shops/{id}/holidays/{holiday_id}', { id: shop.id, holiday_id }, options),
  },
});

/** @param {{ params: { id?: string } }} props */
export default function Shops({ params: { id } }) {
  const create = can('create-shops') && html`<${Link} to="/shops/new" class="button primary"><${Icon} name="plus" size=${16} />${t('shop.new')}<//>`;
  if (!id) {
    return html`<${Page} title=${t('nav.shops')} actions=${create} />
      <${Table} id="shops" table=${tables.shops} to=${(/** @type {import('../lib/table.js').Row} */ row) => `/shops/${idOf(row)}`} empty=${{ icon: 'clock', title: t('shop.none'), action: create }} />`;
  }
  const edits = can(id === 'new' ? 'create-shops' : 'edit-shops');
  return html`<${RecordPage} resource=${resource} id=${id} to="/shops" crumb="nav.shops" edits=${edits} view=${(/** @type {any} */ shop, /** @type {() => void} */ refresh) => ({
    title: shop.name,
    history: (/** @type {number} */ page, /** @type {AbortSignal} */ signal) => get('/api/shops/{id}/history', { id, page }, { signal }),
    above: html`<${Week} shop=${shop} edits=${edits} refresh=${refresh} />`,
    side: html`<${Days} shop=${shop} edits=${edits} refresh=${refresh} />`,
  })} />`;
}

/** Opens the dialog of a part, and reads the shop again after a write. @param {Shop} shop @param {() => void} refresh */
const editor = (shop, refresh) => async (/** @type {'hours' | 'exceptions' | 'holidays'} */ part, /** @type {{ id?: number, name?: string, record?: any }} */ what) => {
  if (await editRecord(parts(shop)[part], what)) refresh();
};

/** The share of the day before a time, such as `09:30`. @param {string} time */
const share = (time) => (Number(time.slice(0, 2)) + Number(time.slice(3, 5)) / 60) / 24 * 100;

/** The week: a line for each day, its hours as bars. @param {{ shop: Shop, edits: boolean, refresh: () => void }} props */
function Week({ shop, edits, refresh }) {
  const edit = editor(shop, refresh);
  return html`<${Card} title=${t('shop.week')}><ul class="week">${WEEK.map((day) => {
    const hours = shop.hours.filter((one) => one.weekday === Number(day));
    return html`<li key=${day}><b>${dayName(day)}</b><div class="day" aria-hidden="true">${hours.map((one) => html`<i key=${one.id} style=${{ left: `${share(one.opens_at)}%`, width: `${share(one.closes_at) - share(one.opens_at)}%` }} />`)}</div>
      <div class="row">${hours.map((one) => html`<button type="button" key=${one.id} class="button small" disabled=${!edits} aria-label=${`${dayName(day)} ${one.opens_at}–${one.closes_at}`}
          onClick=${() => edit('hours', { id: one.id, name: dayName(day) })}>${one.opens_at}–${one.closes_at}</button>`)}
        ${hours.length === 0 && html`<span class="faint">${t('shop.closed')}</span>`}
        ${edits && html`<button type="button" class="icon-button" aria-label=${`${t('shop.hoursNew')}: ${dayName(day)}`} onClick=${() => edit('hours', { record: { weekday: Number(day) } })}><${Icon} name="plus" size=${14} /></button>`}</div></li>`;
  })}</ul><//>`;
}

/** State of the shop, special hours and holidays. @param {{ shop: Shop, edits: boolean, refresh: () => void }} props */
function Days({ shop, edits, refresh }) {
  const edit = editor(shop, refresh);
  /** @type {{ part: 'exceptions' | 'holidays', rows: { id: number, date: string, text: string }[] }[]} */
  const lists = [
    { part: 'exceptions', rows: shop.exceptions.map(({ id, date: day, opens_at: from, closes_at: to, note }) => ({ id, date: day, text: [from && to ? `${from}–${to}` : t('shop.closed'), note].filter(Boolean).join(' · ') })) },
    { part: 'holidays', rows: shop.holidays.map(({ id, date: day, is_yearly: yearly, name }) => ({ id, date: day, text: [name, yearly && t('shop.yearly')].filter(Boolean).join(' · ') })) },
  ];
  return html`<${Card}><${Facts} rows=${[
      [t('field.status'), html`<${Badge} kind=${shop.is_open_now ? 'good' : 'plain'}>${t(shop.is_open_now ? 'shop.openNow' : 'shop.closedNow')}<//>`],
      [t('shop.nextChange'), dateTime(shop.next_change_at)],
    ]} /><//>
    ${lists.map(({ part, rows }) => html`<${Card} key=${part} title=${t(`shop.${part}`)} flush actions=${edits && html`<button type="button" class="button small" onClick=${() => edit(part, {})}><${Icon} name="plus" size=${14} />${t('add')}</button>`}>
      <ul class="list">${rows.map((row) => html`<li key=${row.id}><div class="grow">${date(row.date)}<p class="faint">${row.text}</p></div>
        ${edits && html`<button type="button" class="icon-button" aria-label=${`${t('edit')}: ${date(row.date)}`} onClick=${() => edit(part, { id: row.id, name: date(row.date) })}><${Icon} name="edit" size=${16} /></button>`}</li>`)}</ul>
      ${rows.length === 0 && html`<p class="card-body note">${t('shop.daysNone')}</p>`}<//>`)}`;
}
