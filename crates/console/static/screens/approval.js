// @ts-check
// One access request: what a program asks for, and the decision.
import { get, post } from '../lib/api.js';
import { Dialog, open, toast } from '../lib/dialog.js';
import { ago, dateTime } from '../lib/format.js';
import { html, useEffect, useId, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { useActions } from '../lib/keys.js';
import { forget, useLoad } from '../lib/load.js';
import { Permissions } from '../lib/permissions.js';
import { Link, navigate } from '../lib/router.js';
import { can } from '../lib/session.js';
import { attempt, Badge, Card, Facts, Loading, Page } from '../lib/ui.js';
import { keepRequest, STATUS } from './approvals.js';

/** @typedef {import('../types/shapes').Answered<'/api/agent-access-requests/{publicId}/review', 'get'>['agentAccessRequest']} Request */

/** @param {{ params: { id: string } }} props */
export default function Approval({ params }) {
  const loaded = useLoad((signal) => get('/api/agent-access-requests/{publicId}/review', { publicId: params.id }, { signal }), [params.id]);
  useEffect(() => {
    if (loaded.data) keepRequest(loaded.data.agentAccessRequest);
  }, [loaded.data]);
  return html`<${Loading} of=${loaded}>${(/** @type {{ agentAccessRequest: Request }} */ { agentAccessRequest: request }) => html`<${Review}
    key=${request.status} request=${request} set=${(/** @type {Request} */ next) => loaded.set({ agentAccessRequest: next })} />`}<//>`;
}

/** @param {{ request: Request, set: (request: Request) => void }} props */
function Review({ request, set }) {
  const publicId = request.publicId;
  const pending = request.status === 'pending' && new Date(request.expires_at) > new Date();
  const decides = pending && can('create-agents');
  const [chosen, setChosen] = useState(() => request.permissions.filter((name) => !decides || can(name)));
  const [name, setName] = useState(request.name);
  const [busy, setBusy] = useState(false);
  const id = useId('approval');
  const state = request.status === 'pending' && !pending ? 'expired' : request.status;
  const run = async (/** @type {() => Promise<void>} */ work, /** @type {string} */ done) => {
    setBusy(true);
    await attempt(work, done);
    setBusy(false);
  };
  const approve = () => run(async () => {
    const answer = await post('/api/agent-access-requests/{publicId}/approve', { publicId }, { permissions: chosen, ...(name.trim() !== request.name ? { name: name.trim() } : {}) });
    forget('agents');
    set(answer.agentAccessRequest);
    if (can('view-agents')) void navigate(`/agents/${answer.agent.id}`, { force: true });
  }, t('approval.approved'));
  const decline = async () => {
    const reason = await open((/** @type {(reason: string | null) => void} */ close) => html`<${ReasonDialog} title=${t('approval.decline')} label=${t('approval.declineReason')} close=${close} />`);
    if (reason === null) return;
    await run(async () => set((await post('/api/agent-access-requests/{publicId}/decline', { publicId }, reason ? { reason } : {})).agentAccessRequest), t('approval.declined'));
  };
  const claim = () => run(async () => set((await post('/api/agent-access-requests/{publicId}/review', { publicId }, { permissions: chosen })).agentAccessRequest), t('approval.claimed'));
  const ready = decides && chosen.length > 0 && Boolean(name.trim()) && !busy;
  useActions(decides ? [
    { id: 'approve', label: t('approval.approve', { n: chosen.length }), icon: 'check', keys: 'a', run: () => { if (ready) void approve(); else toast(t('approval.choose'), { kind: 'info' }); } },
    { id: 'decline', label: t('approval.decline'), icon: 'close', keys: 'd', run: () => void decline() },
  ] : []);
  return html`<${Page} title=${request.name} crumbs=${[{ label: t('nav.approvals'), to: '/approvals' }]}
      badge=${html`<${Badge} kind=${STATUS[state]}>${t(`approval.status.${state}`)}<//>`} />
    <div class="columns">
      <div>
        <${Card} title=${t('approval.reason')}>
          <blockquote class="prewrap">${request.reason}</blockquote>
          <p class="note">${t('approval.warning')}</p>
        <//>
        <${Card} title=${t('approval.permissions')}>
          ${decides && html`<p class="note">${t('approval.choose')}</p>`}
          <${Permissions} names=${decides ? request.permissions : request.requested_permissions} chosen=${chosen} onChange=${setChosen} readonly=${!decides} />
        <//>
      </div>
      <div>
        <${Card} title=${t('agent.details')}>
          <${Facts} rows=${[
            [t('approval.asked'), dateTime(request.created_at)],
            [t('approval.expires'), pending ? `${dateTime(request.expires_at)} (${ago(request.expires_at)})` : dateTime(request.expires_at)],
            request.decline_reason ? [t('field.reason'), request.decline_reason] : null,
          ]} />
          ${!decides && html`<p class="note">${t('approval.decided')}</p><div class="row"><${Link} to="/agents" class="button">${t('nav.agents')}<//></div>`}
          ${decides && html`<div class="field"><label for=${id}>${t('approval.name')}</label>
              <input id=${id} maxlength="255" required value=${name} onInput=${(/** @type {any} */ e) => setName(e.target.value)} /></div>
            <button type="button" class="button primary" disabled=${!ready} onClick=${approve}>${t('approval.approve', { n: chosen.length })} <kbd>A</kbd></button>
            <button type="button" class="button" disabled=${busy} onClick=${decline}>${t('approval.decline')} <kbd>D</kbd></button>
            <button type="button" class="link" disabled=${busy} onClick=${claim}>${t('approval.claim')}</button>
            <p class="hint">${t('approval.claimHint')}</p>`}
        <//>
      </div>
    </div>`;
}

/** Asks for the reason of a refusal, which may be empty. @param {{ title: string, label: string, close: (reason: string | null) => void }} props */
export function ReasonDialog({ title, label, close }) {
  const [reason, setReason] = useState('');
  const id = useId('reason');
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    close(reason.trim());
  };
  return html`<${Dialog} title=${title} onClose=${() => close(null)}>
    <form class="stack" onSubmit=${submit}>
      <div class="field"><label for=${id}>${label}</label>
        <textarea id=${id} rows="3" maxlength="1000" autofocus value=${reason} onInput=${(/** @type {any} */ e) => setReason(e.target.value)} /></div>
      <div class="dialog-foot inline"><button type="button" class="button" onClick=${() => close(null)}>${t('cancel')}</button>
        <button class="button danger">${title}</button></div>
    </form>
  <//>`;
}
