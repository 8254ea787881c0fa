// @ts-check
// One call of an agent: its exact effect, the decision, and the result.
import { ApiError, get, post, send } from '../lib/api.js';
import { flatten, operationText, stateBadge, useNames, Values } from '../lib/calls.js';
import { Dialog, focusMain, open, toast } from '../lib/dialog.js';
import { dateTime, number } from '../lib/format.js';
import { html, useEffect, useId, useRef, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { useActions } from '../lib/keys.js';
import { isAbort, useLoad } from '../lib/load.js';
import { ANY } from '../lib/record.js';
import { Link, screenOf } from '../lib/router.js';
import { screenAt } from '../lib/sections.js';
import { can } from '../lib/session.js';
import { options } from '../lib/tables.js';
import { attempt, Card, Facts, Loading, Page, reason } from '../lib/ui.js';
import { ReasonDialog } from './approval.js';
import { Preview } from './order-lines.js';

/** @typedef {import('../lib/calls.js').Call} Call */

/** Operations with a dry run. A check compares them with the API description: without it, the request would be the write itself. */
const PREVIEWS = ['PUT /api/orders/{id}', 'POST /api/orders/{id}/nomenclatures', 'PUT /api/orders/{id}/nomenclatures/{nomenclature}', 'POST /api/orders/{id}/request-refund'];
/** Numbers and version in an entity tag such as `"orders-12-3"`. */
const TAG = /^"(?:.+?((?:-\d+)*)-)?(\d+)(?:\.[0-9a-f]+)?"$/;
/** Seconds between two looks at a call that is being executed. */
const INTERVAL = 2;

/** The path up to its last number of the first `numbers`: that of the record which a call writes to. @param {string} path @param {number} numbers */
function recordPath(path, numbers) {
  const parts = path.split('/');
  const last = parts.flatMap((part, index) => (/^\d+$/.test(part) ? [index] : [])).slice(0, numbers).at(-1);
  return last === undefined ? path : parts.slice(0, last + 1).join('/');
}

/** Reads the record that a call is bound to. `changed` is `null` if the versions cannot be compared. @param {string} path @param {string} tag @param {AbortSignal} signal */
async function compare(path, tag, signal) {
  const bound = TAG.exec(tag);
  const record = recordPath(path, (bound?.[1] ?? '-').split('-').length - 1);
  const { body, etag } = await send('GET', record, undefined, { signal });
  const current = TAG.exec(etag ?? '')?.[2];
  return { changed: bound?.[2] && current ? bound[2] !== current : null, record, now: record === path ? /** @type {any} */ (Object.values(body ?? {})[0]) : null };
}

/** @param {{ params: { id: string } }} props */
export default function AgentAction({ params }) {
  const loaded = useLoad((signal) => get('/api/agent-actions/{publicId}', { publicId: params.id }, { signal }), [params.id]);
  const running = loaded.data?.agentAction.state === 'approved';
  useEffect(() => {
    if (!running) return;
    const timer = setTimeout(loaded.reload, INTERVAL * 1000);
    return () => clearTimeout(timer);
  }, [loaded.data]);
  return html`<${Loading} of=${loaded}>${(/** @type {{ agentAction: Call }} */ { agentAction: call }) => html`<${OneCall} call=${call} reload=${loaded.reload}
    set=${(/** @type {Call} */ next) => loaded.set({ agentAction: next })} />`}<//>`;
}

/** @param {{ call: Call, set: (call: Call) => void, reload: () => void }} props */
function OneCall({ call, set, reload }) {
  const { publicId, operation, path, arguments: sent } = call;
  const agents = useNames(options.agents);
  const employees = useNames(options.responsible);
  const decides = call.state === 'proposed' && can('approve-agent-actions');
  const bound = useLoad(async (signal) => (decides && sent?.if_match ? compare(path, sent.if_match, signal) : null), [publicId, decides]);
  const title = operationText(operation);
  const shown = (/** @type {Call} */ next) => {
    set(next);
    focusMain();
  };
  const approve = async () => {
    const next = await open((/** @type {(call: Call | null) => void} */ close) => html`<${ApproveDialog} call=${call} close=${close} />`);
    if (!next) return reload();
    shown(next);
    if (next.state === 'executed' || next.state === 'reported') toast(t('call.executed'));
    else if (next.state === 'approved') toast(t('call.running'), { kind: 'info' });
    else toast(t('call.failed'), { kind: 'error' });
  };
  const refuse = async () => {
    const text = await open((/** @type {(reason: string | null) => void} */ close) => html`<${ReasonDialog} title=${t('call.refuse')} label=${t('call.refuseReason')} close=${close} />`);
    if (text === null) return;
    const done = await attempt(async () => shown((await post('/api/agent-actions/{publicId}/refuse', { publicId }, text ? { reason: text } : {})).agentAction), t('call.refused'));
    if (!done) reload();
  };
  useActions(decides ? [
    { id: 'call-approve', label: t('call.approve'), icon: 'check', keys: 'a', run: () => void approve() },
    { id: 'call-refuse', label: t('call.refuse'), icon: 'close', keys: 'd', run: () => void refuse() },
  ] : []);
  const body = sent?.body ? JSON.parse(sent.body) : null;
  const values = [.../** @type {[string, unknown][]} */ ([...new URLSearchParams(sent?.query ?? '')]), ...(body === null ? [] : flatten(body))];
  const screen = screenOf(bound.data?.record ?? path);
  const opens = screen && screenAt(screen) ? screen : null;
  const name = (/** @type {number} */ id) => employees.get(id) ?? `№ ${id}`;
  return html`<${Page} title=${title} crumbs=${[{ label: t('nav.calls'), to: '/agent-actions' }]} badge=${stateBadge(call)} />
    <div class="columns">
      <div>
        <${Card} title=${t('call.effect')} actions=${opens && html`<${Link} to=${opens}>${t('call.record')}<//>`}>
          <p class="code prewrap">${operation.split(' ')[0]} ${path}</p>
          ${bound.data?.changed && html`<p class="form-problem" role="alert">${t('call.changed')}</p>`}
          ${bound.data?.changed === false && html`<p class="note">${t('call.unchanged')}</p>`}
          ${(bound.error || bound.data?.changed === null) && html`<p class="note">${t('call.notCompared')} ${bound.error && reason(bound.error)}</p>`}
          ${sent ? html`${values.length ? html`<${Values} values=${values} now=${/^(PUT|PATCH) /.test(operation) ? bound.data?.now : null} />` : html`<p class="note">${t('call.noArguments')}</p>`}
            <details><summary>${t('call.exact')}</summary><${Facts} rows=${[
              [t('call.query'), sent.query || null], [t('call.body'), sent.body && html`<span class="code prewrap">${sent.body}</span>`],
              ['If-Match', sent.if_match], [t('call.previewHash'), sent.preview_hash], ['SHA-256', call.arguments_hash],
            ]} /></details>` : html`<p class="note">${t(call.needs_approval ? 'call.hidden' : 'call.notKept')}</p>`}
        <//>
        ${decides && body && !sent?.query && PREVIEWS.includes(operation) && html`<${Card} title=${t('call.preview')}>
          <${Preview} keys=${[publicId]} ask=${(/** @type {AbortSignal} */ signal) => dryRun(operation, path, body, signal)} /><//>`}
        ${call.status_code != null && html`<${Card} title=${t('call.result')}>
          <${Facts} rows=${[
            [t('column.agentActions.status_code'), call.status_code], call.error_code ? [t('column.agentActions.error_code'), call.error_code] : null,
            [t('column.agentActions.duration_ms'), call.duration_ms == null ? null : number(call.duration_ms)],
            [t('call.finished'), dateTime(call.finished_at)], [t('call.reported'), dateTime(call.reported_at)],
          ]} />
          ${call.result && html`<details><summary>${t('call.response')}</summary><div class="code prewrap">${pretty(call.result)}</div></details>`}<//>`}
      </div>
      <div>
        <${Card} title=${t('call.proposal')}>
          <${Facts} rows=${[
            [t('nav.agent'), html`<${Link} to=${`/agents/${call.agent_id}`}>${agents.get(call.agent_id) ?? `№ ${call.agent_id}`}<//>`],
            [t('column.agentActions.class'), t(`call.class.${call.class}`)], [t('column.agentActions.channel'), t(`call.channel.${call.channel}`)],
            [t('column.agentActions.proposed_at'), dateTime(call.proposed_at)],
            call.state === 'proposed' && [t('call.left'), html`<${TimeLeft} until=${call.expires_at} over=${reload} />`],
            call.decided_by != null && [t('column.agentActions.decided_by'), name(call.decided_by)],
            call.decided_at != null && [t('column.agentActions.decided_at'), dateTime(call.decided_at)],
            call.reason != null && [t('field.reason'), call.reason],
          ]} />
          ${call.state === 'approved' && html`<p class="note" role="status">${t('call.running')}</p>`}
          ${decides && html`<p class="note">${t('call.warning')}</p><div class="row">
            <button type="button" class="button primary" onClick=${approve}>${t('call.approve')} <kbd>A</kbd></button>
            <button type="button" class="button" onClick=${refuse}>${t('call.refuse')} <kbd>D</kbd></button></div>`}
          <div class="row"><${Link} to=${`/agent-actions?tab=all&agent_id=${call.agent_id}`}>${t('agent.calls')}<//></div>
        <//>
      </div>
    </div>`;
}

/** Asks the service for the effect of a call, which it does not execute. @param {string} operation @param {string} path @param {unknown} body @param {AbortSignal} signal */
async function dryRun(operation, path, body, signal) {
  const [method = ''] = operation.split(' ');
  return (await send(method, `${path}?dry_run=1`, body, { signal, ...(method === 'PUT' ? ANY : {}) })).body;
}

/** @param {string} text JSON */
const pretty = (text) => JSON.stringify(JSON.parse(text), null, 2);

/** The time until a moment, counted down by seconds. @param {{ until: string, over: () => void }} props */
function TimeLeft({ until, over }) {
  const [now, setNow] = useState(() => Date.now());
  const seconds = Math.max(0, Math.ceil((new Date(until).getTime() - now) / 1000));
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (seconds === 0) over();
  }, [seconds === 0]);
  return html`<b role="timer" aria-label=${t('call.left')}>${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}</b>`;
}

/** Asks before the call is executed, with the password if the service wants it. @param {{ call: Call, close: (call: Call | null) => void }} props */
function ApproveDialog({ call, close }) {
  const [asks, setAsks] = useState(false);
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const id = useId('approve');
  useEffect(() => field.current?.focus(), [asks]);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem('');
    try {
      return close((await post('/api/agent-actions/{publicId}/approve', { publicId: call.publicId }, asks ? { password } : {})).agentAction);
    } catch (error) {
      if (isAbort(error)) return;
      const wanted = error instanceof ApiError && Boolean(error.fields.password);
      setProblem(wanted ? t(asks ? 'call.passwordWrong' : 'call.passwordAsk') : reason(error));
      if (wanted) setAsks(true);
    }
    setBusy(false);
  };
  return html`<${Dialog} title=${t('call.approveAsk')} locked=${busy} onClose=${() => close(null)}>
    <form class="stack" onSubmit=${submit}>
      <p><b>${operationText(call.operation)}</b><br /><span class="code prewrap">${call.operation.split(' ')[0]} ${call.path}</span></p>
      <p>${t('call.approveText')}</p>
      ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
      ${asks && html`<div class="field"><label for=${id}>${t('signIn.password')}</label>
        <input id=${id} ref=${field} type="password" autocomplete="current-password" required value=${password} onInput=${(/** @type {any} */ e) => setPassword(e.target.value)} /></div>`}
      <div class="dialog-foot inline"><button type="button" class="button" disabled=${busy} onClick=${() => close(null)}>${t('cancel')}</button>
        <button class="button primary" autofocus disabled=${busy}>${t('call.approve')}</button></div>
    </form>
  <//>`;
}
