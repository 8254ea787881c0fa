// @ts-check
// Approvals inbox: requests of the project, and those opened by their link. A request belongs to no project until it is reviewed,
// so this browser keeps the ones that were opened.
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

/** @param {Seen} request */
const stateOf = (request) => (request.status === 'pending' && new Date(request.expires_at) < new Date() ? 'expired' : request.status);

/** Requests that employees of the project reviewed, newest first. @param {number} pages @param {AbortSignal} signal */
async function load(pages, signal) {
  const answers = await Promise.all(Array.from({ length: pages }, (_, index) => get('/api/agent-access-requests', { page: index + 1, per_page: 25 }, { signal })));
  return { requests: /** @type {Seen[]} */ (answers.flatMap((answer) => answer.agentAccessRequests)), last: answers[0]?.pagination.last_page ?? 1 };
}

export default function Approvals() {
  const [pages, setPages] = useState(1);
  const loaded = useLoad((signal) => load(pages, signal), [pages]);
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
  const listed = new Set(loaded.data?.requests.map(({ publicId }) => publicId));
  const opened = loaded.data || loaded.error ? seen.filter(({ publicId }) => !listed.has(publicId)) : [];
  const line = (/** @type {Seen} */ request, /** @type {boolean} */ kept) => html`<li key=${request.publicId}>
    <div class="grow"><${Link} to=${`/approvals/${request.publicId}`}><b>${request.name}</b><//><p class="faint">${t('approval.expires')} ${ago(request.expires_at)}</p></div>
    <${Badge} kind=${STATUS[stateOf(request)]}>${t(`approval.status.${stateOf(request)}`)}<//>
    ${kept && html`<button type="button" class="icon-button" aria-label=${`${t('approvals.forget')}: ${request.name}`} title=${t('approvals.forget')} onClick=${() => drop(request.publicId)}><${Icon} name="close" size=${16} /></button>`}</li>`;
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
    ${opened.length > 0 && html`<${Card} title=${t('approvals.seen')} flush><ul class="list">${opened.map((request) => line(request, true))}</ul><//>`}
    <${Card} title=${t('approvals.reviewed')} flush>
      <${Loading} of=${loaded} lines=${3}>${(/** @type {Awaited<ReturnType<typeof load>>} */ { requests, last }) => html`
        ${requests.length === 0 && html`<${Empty} icon="approvals" title=${t('approvals.none')} text=${t('approvals.noneText')} />`}
        <ul class="list">${requests.map((request) => line(request, false))}</ul>
        ${pages < last && html`<p class="row pager"><button type="button" class="link" onClick=${() => setPages(pages + 1)}>${t('more')}</button></p>`}`}<//>
    <//>
    <${Card} title=${t('approvals.agents')} flush actions=${html`<${Link} to="/agents">${t('all')}<//>`}>
      <${Loading} of=${agents} lines=${3}>${(/** @type {any} */ data) => (data.agents.length ? agentRows(data.agents)
        : html`<${Empty} icon="agents" title=${t('agents.none')} text=${t('agents.noneText')}>
            ${can('create-agents') && html`<${Link} to="/agents/new" class="button">${t('do.agentNew')}<//>`}<//>`)}<//>
    <//>`;
}
