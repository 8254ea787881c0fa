// @ts-check
// The project: its settings and delivery prices, which share a version, and the integrations that the service knows.
import { ApiError, get, put, read } from '../lib/api.js';
import { toast } from '../lib/dialog.js';
import { dateTime, setProject } from '../lib/format.js';
import { RecordForm } from '../lib/form.js';
import { History } from '../lib/history.js';
import { html, useState } from '../lib/html.js';
import { language, t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { matching } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { worded } from '../lib/tables.js';
import { Card, Facts, Loading, Page } from '../lib/ui.js';

/** @typedef {import('../lib/record.js').Options} Options */
/** @typedef {import('../types/shapes').Answered<'/api/project/delivery_prices', 'get'>['deliveryPrices'][number]} Price */

/** Records that integrations belong to: screen and permission. @type {Record<string, { to: string, permission: string }>} */
const OWNERS = {
  warehouse: { to: '/warehouses', permission: 'view-warehouses' },
  bank_requisite: { to: '/branches', permission: 'view-branches' },
};

/** @param {string} word */
const languageName = (word) => new Intl.DisplayNames([language.get()], { type: 'language' }).of(word) ?? word;

/** @type {import('../lib/form.js').FieldSpec[]} */
const fields = [
  { name: 'name', kind: 'text', required: true, max: 255, wide: true },
  { name: 'time_zone', kind: 'text', required: true, max: 64, hint: 'project.zoneHint' },
  { name: 'language', kind: 'choice', required: true, options: worded(languageName, ['ru', 'en']) },
  { name: 'charges_delivery', kind: 'check', wide: true },
  { name: 'if_match_required', kind: 'check', wide: true, hint: 'project.matchHint' },
  { name: 'contact_max_pieces', kind: 'number', min: 1, required: true, hint: 'project.contactHint' },
  { name: 'contact_max_value', kind: 'money', required: true, hint: 'project.contactHint' },
  { name: 'contact_hold_hours', kind: 'number', min: 1, required: true, hint: 'project.contactHint' },
];

/** @param {Options} settings */
async function readProject(settings) {
  const { body: { project: record }, etag } = await read('/api/project', {}, settings);
  return { record, etag };
}

/** A form has names for fields: those of a price. @param {Price} price */
const priceName = ({ delivery_type: type, delivery_subtype: subtype }) => `price-${type.id}-${subtype?.id ?? 0}`;

/** @param {Options} settings */
async function readPrices(settings) {
  const { body: { deliveryPrices: prices }, etag } = await read('/api/project/delivery_prices', {}, settings);
  return { prices, record: Object.fromEntries(prices.map((price) => [priceName(price), price.price])), etag };
}

/** Writes changed prices. Errors at places of the list are moved to their fields. @param {Price[]} prices @param {Record<string, string>} changes @param {string | undefined} match */
async function writePrices(prices, changes, match) {
  const changed = prices.filter((price) => priceName(price) in changes);
  const list = changed.map((price) => ({ delivery_type_id: price.delivery_type.id, delivery_subtype_id: price.delivery_subtype?.id ?? null, price: changes[priceName(price)] }));
  try {
    await put('/api/project/delivery_prices', {}, { delivery_prices: list }, matching(match));
  } catch (error) {
    if (error instanceof ApiError) {
      error.fields = Object.fromEntries(Object.entries(error.fields).map(([path, messages]) => {
        const price = changed[Number(/^delivery_prices\.(\d+)/.exec(path)?.[1] ?? -1)];
        return [price ? priceName(price) : path, messages];
      }));
    }
    throw error;
  }
}

export default function Project() {
  const [round, setRound] = useState(0);
  const edits = can('edit-settings');
  const project = useLoad((signal) => readProject({ signal }), [round]);
  const prices = useLoad((signal) => readPrices({ signal }), [round]);
  const saved = () => {
    toast(t('saved'));
    setRound((/** @type {number} */ n) => n + 1);
  };
  const save = async (/** @type {Record<string, any>} */ changes, /** @type {unknown} */ _, /** @type {string | undefined} */ match) => {
    const { project: now } = await put('/api/project', {}, changes, matching(match));
    setProject([{ name: 'project_name', value: now.name }, { name: 'time_zone', value: now.time_zone }]);
    saved();
  };
  return html`<${Page} title=${t('nav.project')} />
    <div class="columns">
      <div>
        <${Card} title=${t('section.settings')}><${Loading} of=${project}>${(/** @type {Awaited<ReturnType<typeof readProject>>} */ { record, etag }) => html`
          <${RecordForm} fields=${fields} record=${record} etag=${etag} save=${save} reread=${() => readProject({})} readonly=${!edits} />`}<//><//>
        <${Card} title=${t('project.prices')}><${Loading} of=${prices} lines=${3}>${(/** @type {Awaited<ReturnType<typeof readPrices>>} */ { prices: list, record, etag }) => html`
          <p class="note">${t('project.pricesText')}</p>
          <${RecordForm} record=${record} etag=${etag} reread=${() => readPrices({})} readonly=${!edits}
            fields=${list.map((price) => ({ name: priceName(price), label: [price.delivery_type.name, price.delivery_subtype?.name].filter(Boolean).join(' · '), kind: 'money', required: true }))}
            save=${async (/** @type {Record<string, string>} */ changes, /** @type {unknown} */ _, /** @type {string | undefined} */ match) => { await writePrices(list, changes, match); saved(); }} />`}<//><//>
        <${History} round=${round} load=${(/** @type {number} */ page, /** @type {AbortSignal} */ signal) => get('/api/project/history', { page }, { signal })} />
      </div>
      <div>
        <${Card}><${Loading} of=${project} lines=${2}>${(/** @type {any} */ { record }) => html`<${Facts} rows=${[
          [t('column.id'), record.id], [t('field.currency'), record.currency], [t('column.created_at'), dateTime(record.created_at)]]} />`}<//><//>
        ${can('view-dictionaries') && html`<${IntegrationList} />`}
      </div>
    </div>`;
}

function IntegrationList() {
  const loaded = useLoad((signal) => get('/api/integrations', {}, { signal }), []);
  return html`<${Card} title=${t('integrations')} flush>
    <${Loading} of=${loaded} lines=${3}>${(/** @type {any} */ { integrations: list }) => html`<ul class="list">${list.map((/** @type {any} */ one) => {
      const owner = OWNERS[one.owner];
      return html`<li key=${one.id}><div class="grow"><b>${one.name}</b><p class="faint">${one.integration_type.name}</p></div>
        ${owner && can(owner.permission) && html`<${Link} to=${owner.to}>${t(`integrations.${one.owner}`)}<//>`}</li>`;
    })}</ul>`}<//>
  <//>`;
}
