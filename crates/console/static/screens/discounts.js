// @ts-check
// Discounts and promo codes: the list with their figures, and one discount with its use.
import { get, post, put, read, remove } from '../lib/api.js';
import { confirm, focusMain } from '../lib/dialog.js';
import { money, number } from '../lib/format.js';
import { html, useMemo } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad } from '../lib/load.js';
import { findItems } from '../lib/picker.js';
import { Link, place } from '../lib/router.js';
import { matching, RecordPage } from '../lib/record.js';
import { can } from '../lib/session.js';
import { idOf, Table } from '../lib/table.js';
import { options, tables, worded } from '../lib/tables.js';
import { attempt, Badge, Card, Facts, Page, Tabs } from '../lib/ui.js';

/** @typedef {import('../lib/table.js').Row} Row */

const STATES = ['active', 'scheduled', 'paused', 'expired', 'archived'];
/** @type {Record<string, 'good' | 'warn' | 'info' | 'plain'>} */
const KINDS = { active: 'good', scheduled: 'info', paused: 'warn' };

/** @param {string} status */
const state = (status) => html`<${Badge} kind=${KINDS[status]}>${t(`discount.status.${status}`)}<//>`;

/** @type {import('../lib/record.js').Resource} */
const resource = {
  title: 'do.discountNew',
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255, wide: true },
    { name: 'type', kind: 'choice', required: true, options: worded((word) => t(`discount.type.${word}`), ['percent', 'fixed']) },
    { name: 'value', kind: 'money', required: true },
    { name: 'target', kind: 'choice', required: true, options: worded((word) => t(`discount.target.${word}`), ['cart', 'category', 'product']) },
    { name: 'category_id', kind: 'choice', required: true, options: options.categories, when: (values) => values.target === 'category' },
    { name: 'nomenclature_id', kind: 'picker', required: true, find: findItems, shown: (value) => `№ ${value}`, when: (values) => values.target === 'product' },
    { name: 'code', kind: 'text', max: 64 },
    { name: 'minimum_sum', kind: 'money' },
    { name: 'usage_limit', kind: 'number', min: 1, when: (values) => Boolean(values.code) },
    { name: 'customer_limit', kind: 'number', min: 1, when: (values) => Boolean(values.code) },
    { name: 'starts_at', kind: 'datetime' },
    { name: 'ends_at', kind: 'datetime' },
    { name: 'description', kind: 'area', max: 65535 },
  ],
  empty: { type: 'percent', target: 'cart' },
  async read(id, options) {
    const { body: { discount }, etag } = await read('/api/discounts/{id}', { id }, options);
    return { record: { ...discount, category_id: discount.category?.id ?? null, nomenclature_id: discount.nomenclature?.id ?? null }, etag };
  },
  create: async (values) => (await post('/api/discounts', {}, values)).discount.id,
  // A new type needs its value. The target of before is cleared, because its field is not shown.
  update: (id, changes, options, values) => put('/api/discounts/{id}', { id }, {
    ...changes,
    ...'type' in changes ? { value: values.value } : {},
    ...'target' in changes ? { category_id: values.target === 'category' ? values.category_id : null, nomenclature_id: values.target === 'product' ? values.nomenclature_id : null } : {},
  }, options),
  remove: (id, options) => remove('/api/discounts/{id}', { id }, options),
};

/** @type {Record<string, (row: Row) => any>} */
const cells = {
  status: (row) => state(row.status),
  value: (row) => (row.type === 'percent' ? `${number(Number(row.value))} %` : money(row.value)),
  code: (row) => row.code && html`<code>${row.code}</code>`,
  target: (row) => row.category?.name ?? row.nomenclature?.name ?? t(`discount.target.${row.target}`),
};

/** @param {{ params: { id?: string } }} props */
export default function Discounts({ params }) {
  return params.id ? html`<${OneDiscount} id=${params.id} />` : html`<${DiscountList} />`;
}

function DiscountList() {
  const status = place.use().query.get('status');
  const fixed = useMemo(() => (status ? { status } : {}), [status]);
  const stats = useLoad((signal) => get('/api/discounts/stats', {}, { signal }), []).data?.stats;
  const create = can('create-discounts') && html`<${Link} to="/discounts/new" class="button primary"><${Icon} name="plus" size=${16} />${t('do.discountNew')}<//>`;
  const tabs = [null, ...STATES].map((name) => ({
    to: name ? `/discounts?status=${name}` : '/discounts', label: name ? t(`discount.status.${name}`) : t('all'), current: name === status,
    count: stats ? /** @type {any} */ (stats)[name ?? 'total'] : null,
  }));
  return html`<${Page} title=${t('nav.discounts')} actions=${create}
      note=${stats && t('discount.stats', { codes: number(stats.promo_codes), n: stats.usages, sum: money(stats.discount_amount) })} />
    <${Tabs} label=${t('field.status')} tabs=${tabs} />
    <${Table} key=${status ?? 'all'} id="discounts" table=${tables.discounts} fixed=${fixed} to=${(/** @type {Row} */ row) => `/discounts/${idOf(row)}`} cells=${cells}
      empty=${{ icon: 'money', title: t('discount.none'), text: t('discount.noneText'), action: create }} />`;
}

/** @param {{ id: string }} props */
function OneDiscount({ id }) {
  const edits = can(id === 'new' ? 'create-discounts' : 'edit-discounts');
  const fixed = useMemo(() => ({ id }), [id]);
  const order = (/** @type {Row} */ row) => `/orders/${idOf(row)}`;
  return html`<${RecordPage} resource=${resource} id=${id} to="/discounts" crumb="nav.discounts" edits=${edits} view=${(/** @type {any} */ discount, /** @type {() => void} */ refresh, /** @type {string | null} */ etag) => {
    const run = async (/** @type {'activate' | 'pause' | 'archive'} */ command) => {
      if (command === 'archive' && !await confirm({ title: t('discount.archiveAsk'), text: t('discount.archiveText'), confirm: t('discount.archive'), danger: true })) return;
      await attempt(() => post(`/api/discounts/{id}/${command}`, { id }, {}, matching(etag)), t('saved'));
      refresh();
      focusMain();
    };
    const offered = discount.status === 'archived' || !edits ? [] : /** @type {const} */ ([discount.status === 'paused' ? 'activate' : 'pause', 'archive']);
    const { usage_limit: most, used_count: used } = discount;
    return {
      title: discount.name,
      actions: offered.map((command) => html`<button type="button" key=${command} class="button" onClick=${() => run(command)}>${t(`discount.${command}`)}</button>`),
      side: html`<${Card} title=${t('discount.use')}><${Facts} rows=${[
        [t('field.status'), state(discount.status)], [t('column.used_count'), most ? `${number(used)} / ${number(most)}` : number(used)], [t('column.used_amount'), money(discount.used_amount)],
      ]} /><//>`,
      below: html`<${Table} id="usages" table=${tables.usages} fixed=${fixed} to=${can('view-orders') ? order : undefined} empty=${{ icon: 'money', title: t('discount.unused') }} />`,
    };
  }} />`;
}
