// @ts-check
// Calls of agents: those that wait for a decision, and the log of all.
import { get } from '../lib/api.js';
import { operationText, stateBadge, useNames } from '../lib/calls.js';
import { ago, dateTime } from '../lib/format.js';
import { html, useEffect, useMemo, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { Link, place } from '../lib/router.js';
import { expired } from '../lib/session.js';
import { Table } from '../lib/table.js';
import { options, tables } from '../lib/tables.js';
import { Page, Tabs } from '../lib/ui.js';

/** @typedef {import('../lib/table.js').Row} Row */

/** Seconds after which the list is read again: a call waits for half an hour only. */
const INTERVAL = 20;
const WAITING = { state: 'proposed', needs_approval: true };
const ALL = {};

/** @param {Row} row */
const address = (row) => `/agent-actions/${row.publicId}`;

export default function AgentActions() {
  const { query } = place.use();
  const [round, setRound] = useState(0);
  const agents = useNames(options.agents);
  const employees = useNames(options.responsible);
  const log = query.get('tab') === 'all' || query.has('state') || query.has('needs_approval');
  const count = useLoad(async (signal) => (await get('/api/agent-actions', { state: 'proposed', per_page: 1 }, { signal })).pagination.total, [round]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && !expired.get()) setRound((/** @type {number} */ n) => n + 1);
    }, INTERVAL * 1000);
    return () => clearInterval(timer);
  }, []);
  const cells = useMemo(() => ({
    operation: (/** @type {Row} */ row) => operationText(row.operation),
    agent_id: (/** @type {Row} */ row) => agents.get(row.agent_id) ?? `№ ${row.agent_id}`,
    state: stateBadge,
    expires_at: (/** @type {Row} */ row) => (row.state === 'proposed' ? ago(row.expires_at) : dateTime(row.expires_at)),
    class: (/** @type {Row} */ row) => t(`call.class.${row.class}`),
    channel: (/** @type {Row} */ row) => t(`call.channel.${row.channel}`),
    decided_by: (/** @type {Row} */ row) => row.decided_by && (employees.get(row.decided_by) ?? `№ ${row.decided_by}`),
  }), [agents, employees]);
  const tabs = [
    { to: '/agent-actions', label: t('calls.waiting'), count: count.data, current: !log },
    { to: '/agent-actions?tab=all', label: t('calls.all'), current: log },
  ];
  return html`<${Page} title=${t('nav.calls')} note=${t('calls.note')} actions=${html`<${Link} to="/agent-policy" class="button">${t('nav.agentPolicy')}<//>`} />
    <${Tabs} label=${t('nav.calls')} tabs=${tabs} />
    <${Table} key=${String(log)} id="agentActions" table=${tables.agentActions} fixed=${log ? ALL : WAITING} to=${address} cells=${cells} round=${round}
      empty=${{ icon: 'check', title: t(log ? 'calls.none' : 'calls.waitingNone'), text: t(log ? 'calls.noneText' : 'calls.waitingNoneText') }} />`;
}
