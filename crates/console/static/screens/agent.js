// @ts-check
// One agent: its data, permissions and tokens. `/agents/new` creates one.
import { get, patch, post, read, remove } from '../lib/api.js';
import { confirm, toast } from '../lib/dialog.js';
import { ago, dateTime } from '../lib/format.js';
import { RecordForm } from '../lib/form.js';
import { html, useMemo, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { createInDialog, showSecret } from '../lib/list.js';
import { forget, useLoad } from '../lib/load.js';
import { Permissions, permissionText } from '../lib/permissions.js';
import { matching } from '../lib/record.js';
import { Link, navigate } from '../lib/router.js';
import { can, user } from '../lib/session.js';
import { attempt, Card, Empty, Facts, Loading, Page } from '../lib/ui.js';
import { agentBadge, callsOf, pauseAgent } from './agents.js';

/** @typedef {import('../types/shapes').Answered<'/api/agents/{agent}', 'get'>['agent']} Agent */
/** @typedef {import('../lib/form.js').FieldSpec} FieldSpec */

/** @type {FieldSpec[]} */
const fields = [
  { name: 'name', kind: 'text', required: true, max: 255, wide: true },
  { name: 'description', kind: 'area', max: 65535 },
];

/** The names of permissions that the employee can grant: an agent neither approves calls nor changes the policy for agents. */
const own = () => (user.get()?.permissions ?? []).map(({ name }) => name).filter((name) => !name.endsWith('-agent-actions') || name.startsWith('view-'));

/** @param {{ params: { id: string } }} props */
export default function AgentScreen({ params }) {
  return params.id === 'new' ? html`<${NewAgent} />` : html`<${OneAgent} key=${params.id} id=${Number(params.id)} />`;
}

const EMPTY = { name: null, description: null };

function NewAgent() {
  const [chosen, setChosen] = useState(/** @type {string[]} */ ([]));
  const save = async (/** @type {Record<string, any>} */ values) => {
    const { agent } = await post('/api/agents', {}, { ...values, permissions: chosen });
    forget('agents');
    toast(t('created'));
    await navigate(`/agents/${agent.id}`, { force: true, replace: true });
  };
  return html`<${Page} title=${t('do.agentNew')} crumbs=${[{ label: t('nav.agents'), to: '/agents' }]} />
    <${Card}><${RecordForm} fields=${fields} record=${EMPTY} save=${save} submit=${t('create')} cancel=${() => navigate('/agents')}>
      <h2>${t('field.permissions')}</h2>
      <${Permissions} names=${own()} chosen=${chosen} onChange=${setChosen} />
    <//><//>`;
}

/** @param {{ id: number }} props */
function OneAgent({ id }) {
  const loaded = useLoad((signal) => read('/api/agents/{agent}', { agent: id }, { signal }), [id]);
  return html`<${Loading} of=${loaded}>${(/** @type {any} */ { body, etag }) => html`<${AgentView} agent=${body.agent} etag=${etag} reload=${loaded.reload} />`}<//>`;
}

/** @param {{ agent: Agent, etag: string | null, reload: () => void }} props */
function AgentView({ agent, etag, reload }) {
  const names = agent.permissions.map((permission) => permission.name);
  const [chosen, setChosen] = useState(names);
  const edits = can('edit-agents') && names.every((name) => can(name));
  const path = { agent: agent.id };
  const changedRights = [...chosen].sort().join() !== [...names].sort().join();
  const offered = useMemo(() => [...new Set([...own(), ...names])], [agent]);
  const change = (/** @type {Record<string, unknown>} */ body) => attempt(async () => {
    await patch('/api/agents/{agent}', path, body, etag ? { match: etag } : {});
    reload();
  }, t('saved'));
  const save = async (/** @type {Record<string, any>} */ changes, /** @type {any} */ _values, /** @type {string | undefined} */ match) => {
    await patch('/api/agents/{agent}', path, changes, match ? { match } : {});
    forget('agents');
    toast(t('saved'));
    reload();
  };
  const reread = async () => {
    const newer = await read('/api/agents/{agent}', path);
    return { record: newer.body.agent, etag: newer.etag };
  };
  const erase = async () => {
    if (!(await confirm({ title: t('agent.deleteAsk'), text: t('agent.deleteText'), confirm: t('delete'), danger: true }))) return;
    if (await attempt(() => remove('/api/agents/{agent}', path, matching(etag)), t('deleted'))) await navigate('/agents', { force: true });
  };
  const pause = async () => {
    if (await pauseAgent(agent.id, !agent.is_banned)) reload();
  };
  const calls = can('view-agent-actions') && html`<${Link} to=${callsOf(agent.id)} class="button">${t('agent.calls')}<//>`;
  const actions = !edits ? calls : html`${calls}
    <button type="button" class="button" onClick=${pause}>${t(agent.is_banned ? 'agent.resume' : 'agent.pause')}</button>
    <button type="button" class="button" onClick=${erase}><${Icon} name="trash" size=${16} />${t('delete')}</button>`;
  return html`<${Page} title=${agent.name} crumbs=${[{ label: t('nav.agents'), to: '/agents' }]} badge=${agentBadge(agent.is_banned)} actions=${actions} />
    ${can('edit-agents') && !edits && html`<p class="note">${t('agent.cannot')}</p>`}
    <div class="columns">
      <div>
        <${Card} title=${t('agent.details')}><${RecordForm} fields=${fields} record=${agent} etag=${etag} save=${save} reread=${reread} readonly=${!edits} /><//>
        <${Card} title=${t('field.permissions')} actions=${edits && changedRights && html`<button type="button" class="button primary small" onClick=${() => change({ permissions: chosen })}>${t('save')}</button>`}>
          <${Permissions} names=${offered} chosen=${chosen} onChange=${setChosen} readonly=${!edits} /><//>
      </div>
      <div>
        <${Card}><${Facts} rows=${[
          [t('agent.created'), dateTime(agent.created_at)], [t('column.creator'), agent.creator?.name],
          [t('agent.used'), agent.last_activity_at ? ago(agent.last_activity_at) : t('agent.never')],
        ]} /><//>
        <${Tokens} agent=${agent} edits=${edits} />
      </div>
    </div>`;
}

/** @param {{ agent: Agent, edits: boolean }} props */
function Tokens({ agent, edits }) {
  const loaded = useLoad((signal) => get('/api/agents/{agent}/tokens', { agent: agent.id }, { signal }), [agent.id]);
  const create = async () => {
    const value = await createInDialog({
      title: t('agent.tokenNew'), empty: { expires_in_days: 30 },
      fields: [
        { name: 'name', label: t('agent.tokenName'), kind: 'text', required: true, max: 255, wide: true },
        { name: 'expires_in_days', kind: 'number', min: 1, required: true },
      ],
      create: async (values) => (await post('/api/agents/{agent}/tokens', { agent: agent.id }, values)).access_token.value,
    });
    if (value === null) return;
    await showSecret(t('agent.tokenNew'), value);
    loaded.reload();
  };
  const revoke = async (/** @type {number} */ token) => {
    if (!(await confirm({ title: t('agent.tokenRevokeAsk'), text: t('agent.tokenRevokeText'), confirm: t('agent.tokenRevoke'), danger: true }))) return;
    if (await attempt(() => remove('/api/agents/{agent}/tokens/{token}', { agent: agent.id, token }), t('agent.tokenRevoked'))) loaded.reload();
  };
  return html`<${Card} title=${t('agent.tokens')} flush actions=${edits && html`<button type="button" class="button small" onClick=${create}><${Icon} name="key" size=${14} />${t('agent.tokenNew')}</button>`}>
    <${Loading} of=${loaded} lines=${2}>${(/** @type {any} */ { tokens }) => (tokens.length === 0
      ? html`<${Empty} icon="key" title=${t('agent.tokensNone')} />`
      : html`<ul class="list">${tokens.map((/** @type {any} */ token) => html`<li key=${token.id}>
          <div class="grow"><b>${token.name ?? `№ ${token.id}`}</b>
            <p class="faint">${t('agent.expires')} ${dateTime(token.expires_at)} · ${t('agent.used')}: ${token.last_used_at ? ago(token.last_used_at) : t('agent.never')}</p>
            <p class="faint">${token.abilities.map(permissionText).join(', ') || t('agent.whole')}</p></div>
          ${edits && html`<button type="button" class="button small" onClick=${() => revoke(token.id)}>${t('agent.tokenRevoke')}</button>`}
        </li>`)}</ul>`)}<//>
  <//>`;
}
