// @ts-check
// Approvals inbox. The API has no list of access requests, so requests are opened by their link and kept in this browser.
import { get } from '../lib/api.js';
import { ago } from '../lib/format.js';
import { html, recall, remember, useEffect, useId, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad } from '../lib/load.js';
import { Link, navigate } from '../lib/router.js';
import { can } from '../lib/session.js';
import { Badge, Card, Empty, Loading, Page } from '../lib/ui.js';
import { agentRows } from './agents.js';

/** @typedef {{ publicId: string, name: string, status: string, expires_at: string }} Seen */

/** Colours of the states. */
export const STATUS = /** @type {Record<string, 'warn' | 'good' | 'bad' | 'plain'>} */ ({
  pending: 'warn', approved: 'good', consumed: 'good', declined: 'bad', expired: 'plain',
});

/** Requests opened in this browser, newest first. @returns {Seen[]} */
export const seenRequests = () => recall('requests', /** @type {Seen[]} */ ([]));

/** Keeps what is needed to list a request. @param {Seen} request */
export function keepRequest({ publicId, name, status, expires_at }) {
  const others = seenRequests().filter((one) => one.publicId !== publicId);
  remember('requests', [{ publicId, name, status, expires_at }, ...others].slice(0, 50));
}

/** Finds the number of a request in a link or text. @param {string} text */
export function requestId(text) {
  return /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i.exec(text)?.[0]?.toLowerCase() ?? null;
}

export default function Approvals() {
  const [seen, setSeen] = useState(seenRequests);
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState(false);
  const id = useId('approvals');
  const agents = useLoad((signal) => get('/api/agents', { per_page: 10, order_by: 'created_at_desc' }, { signal }), []);
  useEffect(() => document.getElementById(id)?.focus(), []);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const found = requestId(text);
    setWrong(!found);
    if (found) void navigate(`/approvals/${found}`);
  };
  const drop = (/** @type {string} */ publicId) => {
    const next = seen.filter((one) => one.publicId !== publicId);
    remember('requests', next);
    setSeen(next);
  };
  const stateOf = (/** @type {Seen} */ request) => (request.status === 'pending' && new Date(request.expires_at) < new Date() ? 'expired' : request.status);
  return html`<${Page} title=${t('nav.approvals')} note=${t('approvals.note')} />
    <${Card} title=${t('approvals.open')}>
      <form class="row" onSubmit=${submit}>
        <div class="field grow">
          <label for=${id}>${t('approvals.link')}</label>
          <input id=${id} required autocomplete="off" spellcheck=${false} value=${text} aria-invalid=${wrong || undefined} aria-describedby=${`${id}-hint`}
            onInput=${(/** @type {any} */ e) => { setText(e.target.value); setWrong(false); }} />
          <p id=${`${id}-hint`} class=${wrong ? 'field-error' : 'hint'} role=${wrong ? 'alert' : undefined}>${t(wrong ? 'approvals.invalid' : 'approvals.linkHint')}</p>
        </div>
        <button class="button primary">${t('approvals.open')}</button>
      </form>
    <//>
    <${Card} title=${t('approvals.seen')} flush>
      ${seen.length === 0 ? html`<${Empty} icon="approvals" title=${t('approvals.none')} text=${t('approvals.noneText')} />` : html`<ul class="list">
        ${seen.map((request) => html`<li key=${request.publicId}>
          <div class="grow"><${Link} to=${`/approvals/${request.publicId}`}><b>${request.name}</b><//><p class="faint">${t('approval.expires')} ${ago(request.expires_at)}</p></div>
          <${Badge} kind=${STATUS[stateOf(request)]}>${t(`approval.status.${stateOf(request)}`)}<//>
          <button type="button" class="icon-button" aria-label=${`${t('approvals.forget')}: ${request.name}`} title=${t('approvals.forget')} onClick=${() => drop(request.publicId)}><${Icon} name="close" size=${16} /></button>
        </li>`)}
      </ul>`}
    <//>
    <${Card} title=${t('approvals.agents')} flush actions=${html`<${Link} to="/agents">${t('all')}<//>`}>
      <${Loading} of=${agents} lines=${3}>${(/** @type {any} */ data) => (data.agents.length ? agentRows(data.agents)
        : html`<${Empty} icon="agents" title=${t('agents.none')} text=${t('agents.noneText')}>
            ${can('create-agents') && html`<${Link} to="/agents/new" class="button">${t('do.agentNew')}<//>`}<//>`)}<//>
    <//>`;
}
