// @ts-check
// Agents as a table.
import { ago } from '../lib/format.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { idOf, Table } from '../lib/table.js';
import { tables } from '../lib/tables.js';
import { Badge, Page } from '../lib/ui.js';

/** State of an agent as a badge. @param {boolean} paused */
export const agentBadge = (paused) => html`<${Badge} kind=${paused ? 'warn' : 'good'}>${t(paused ? 'agent.paused' : 'agent.active')}<//>`;

/** A short list of agents. @param {{ id: number, name: string, is_banned: boolean, last_activity_at: string | null }[]} agents */
export function agentRows(agents) {
  return html`<ul class="list">${agents.map((agent) => html`<li key=${agent.id}>
    <div class="grow"><${Link} to=${`/agents/${agent.id}`}><b>${agent.name}</b><//>
      <p class="faint">${t('agent.used')}: ${agent.last_activity_at ? ago(agent.last_activity_at) : t('agent.never')}</p></div>
    ${agentBadge(agent.is_banned)}
  </li>`)}</ul>`;
}

const cells = {
  is_banned: (/** @type {any} */ row) => agentBadge(row.is_banned),
  last_activity_at: (/** @type {any} */ row) => (row.last_activity_at ? ago(row.last_activity_at) : html`<span class="faint">${t('agent.never')}</span>`),
};

export default function Agents() {
  const create = can('create-agents') && html`<${Link} to="/agents/new" class="button primary"><${Icon} name="plus" size=${16} />${t('do.agentNew')}<//>`;
  return html`<${Page} title=${t('nav.agents')} note=${t('agents.note')} actions=${create} />
    <${Table} id="agents" table=${tables.agents} order="created_at_desc" to=${(/** @type {any} */ row) => `/agents/${idOf(row)}`} cells=${cells}
      empty=${{ icon: 'agents', title: t('agents.none'), text: t('agents.noneText'), action: create }} />`;
}
