// @ts-check
// Subscriptions by state, those that wait for staff first, and the charges of the next days.
import { html, useMemo } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { phone } from '../lib/format.js';
import { useLoad } from '../lib/load.js';
import { get } from '../lib/api.js';
import { place } from '../lib/router.js';
import { idOf, Table, textOf } from '../lib/table.js';
import { tables } from '../lib/tables.js';
import { Badge, Page, Tabs } from '../lib/ui.js';

/** @typedef {import('../lib/table.js').Row} Row */

/** Colours of the states. @type {Record<string, 'good' | 'warn' | 'bad' | 'info' | 'plain'>} */
export const KINDS = { active: 'good', charging: 'info', past_due: 'bad', succeeded: 'good', failed: 'bad', processing: 'info', needs_reconciliation: 'warn' };

/** Parameters of each tab; the first three are counted. @type {Record<string, Record<string, unknown>>} */
const TABS = {
  past_due: { status: ['past_due'] },
  parked: { parked: ['above_consent', 'contradicting_answers', 'customer_limit', 'paid_today', 'work_failed'] },
  charging: { status: ['charging'] },
  upcoming: {},
  all: {},
};

const cells = {
  status: (/** @type {Row} */ row) => html`<${Badge} kind=${KINDS[row.status]}>${t(`subscription.status.${row.status}`)}<//>`,
  parked: (/** @type {Row} */ row) => row.parked && html`<${Badge} kind="warn">${t(`parked.${row.parked}`)}<//>`,
  counterparty: (/** @type {Row} */ row) => textOf(row.counterparty) || (row.counterparty?.phone ? phone(row.counterparty.phone) : null),
};

/** @param {Row} row */
const address = (row) => `/subscriptions/${idOf(row)}`;

export default function Subscriptions() {
  const { query } = place.use();
  const filtered = [...query.keys()].some((name) => name === 'status' || name === 'parked');
  const tab = filtered ? 'all' : query.get('tab') ?? 'past_due';
  const fixed = useMemo(() => TABS[tab] ?? {}, [tab]);
  const counts = useLoad((signal) => Promise.all(Object.values(TABS).slice(0, 3).map(async (parameters) => (
    await get('/api/tables/subscriptions', { ...parameters, per_page: 1 }, { signal })).pagination.total)), []);
  const tabs = Object.keys(TABS).map((name, index) => ({ to: `/subscriptions?tab=${name}`, label: t(`subscription.tab.${name}`), count: counts.data?.[index] ?? null, current: tab === name }));
  return html`<${Page} title=${t('nav.subscriptions')} />
    <${Tabs} label=${t('nav.subscriptions')} tabs=${tabs} />
    <${Table} key=${tab} id=${tab === 'upcoming' ? 'upcoming' : 'subscriptions'} table=${tab === 'upcoming' ? tables.upcoming : tables.subscriptions} fixed=${fixed} to=${address} cells=${cells}
      empty=${{ icon: 'check', title: t('subscription.none'), text: t('subscription.noneText') }} />`;
}

