// @ts-check
// Agents as a table, and their kill switch.
import { patch, read } from '../lib/api.js';
import { confirm } from '../lib/dialog.js';
import { ago } from '../lib/format.js';
import { html, useMemo, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { matching } from '../lib/record.js';
import { Link, navigate } from '../lib/router.js';
import { can } from '../lib/session.js';
import { idOf, Table } from '../lib/table.js';
import { tables } from '../lib/tables.js';
import { attempt, Badge, Page } from '../lib/ui.js';

/** @typedef {import('../lib/table.js').Row} Row */

/** State of an agent as a badge. @param {boolean} paused */
export const agentBadge = (paused) => html`<${Badge} kind=${paused ? 'warn' : 'good'}>${t(paused ? 'agent.paused' : 'agent.active')}<//>`;

/** Refuses all calls of an agent, or allows them again. Resolves with `true` if it is done. @param {number} agent @param {boolean} paused */
export async function pauseAgent(agent, paused) {
  if (paused && !(await confirm({ title: t('agent.pauseAsk'), text: t('agent.pauseText'), confirm: t('agent.pause'), danger: true }))) return false;
  return attempt(async () => {
    const { etag } = await read('/api/agents/{agent}', { agent });
    await patch('/api/agents/{agent}', { agent }, { is_banned: paused }, matching(etag));
  }, t('saved'));
}

/** Address of the calls of an agent. @param {number} agent */
export const callsOf = (agent) => `/agent-actions?tab=all&agent_id=${agent}`;

/** A short list of agents. @param {{ id: number, name: string, is_banned: boolean, last_activity_at: string | null }[]} agents */
export function agentRows(agents) {
  return html`<ul class="list">${agents.map((agent) => html`<li key=${agent.id}>
    <div class="grow"><${Link} to=${`/agents/${agent.id}`}><b>${agent.name}</b><//>
      <p class="faint">${t('agent.used')}: ${agent.last_activity_at ? ago(agent.last_activity_at) : t('agent.never')}</p></div>
    ${can('view-agent-actions') && html`<${Link} to=${callsOf(agent.id)} aria-label=${`${t('agent.calls')}: ${agent.name}`}>${t('agent.calls')}<//>`}
    ${agentBadge(agent.is_banned)}
  </li>`)}</ul>`;
}

const cells = {
  is_banned: (/** @type {any} */ row) => agentBadge(row.is_banned),
  last_activity_at: (/** @type {any} */ row) => (row.last_activity_at ? ago(row.last_activity_at) : html`<span class="faint">${t('agent.never')}</span>`),
};

export default function Agents() {
  const [round, setRound] = useState(0);
  const actions = useMemo(() => [
    ...(can('view-agent-actions') ? [{ key: 'l', label: t('agent.calls'), icon: 'tasks', run: (/** @type {Row} */ row) => void navigate(callsOf(idOf(row))) }] : []),
    ...(can('edit-agents') ? [{
      key: 'p', label: t('agent.pause'), icon: 'alert', when: (/** @type {Row} */ row) => !row.is_banned,
      run: (/** @type {Row} */ row) => void pauseAgent(idOf(row), true).then((done) => done && setRound((/** @type {number} */ n) => n + 1)),
    }] : []),
  ], []);
  const create = can('create-agents') && html`<${Link} to="/agents/new" class="button primary"><${Icon} name="plus" size=${16} />${t('do.agentNew')}<//>`;
  return html`<${Page} title=${t('nav.agents')} note=${t('agents.note')} actions=${create} />
    <${Table} id="agents" table=${tables.agents} order="created_at_desc" to=${(/** @type {any} */ row) => `/agents/${idOf(row)}`} cells=${cells} actions=${actions} round=${round}
      empty=${{ icon: 'agents', title: t('agents.none'), text: t('agents.noneText'), action: create }} />`;
}
