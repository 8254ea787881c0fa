// @ts-check
// Policy for the calls of agents: kill switches, rules of classes and operations, limits. It is saved whole, because each change
// ends the calls that wait.
import { ApiError, get, put, send } from '../lib/api.js';
import { operationText } from '../lib/calls.js';
import { confirm, toast } from '../lib/dialog.js';
import { Field } from '../lib/fields.js';
import { same } from '../lib/form.js';
import { html, useEffect, useId, useRef, useState } from '../lib/html.js';
import { maybe, t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { once, useLoad } from '../lib/load.js';
import { Picker } from '../lib/picker.js';
import { guard, Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { worded } from '../lib/tables.js';
import { attempt, Badge, Card, complain, Empty, Loading, Page, reason } from '../lib/ui.js';
import { agentBadge, pauseAgent } from './agents.js';

/** @typedef {import('../types/shapes').Answered<'/api/agent-policy', 'get'>['agentPolicy']} Policy */
/** @typedef {Record<string, any> & { operations: { operation: string, rule: string }[] }} Rules rules as the form has them: money as a decimal text */
/** @typedef {import('../lib/form.js').FieldSpec} FieldSpec */
/** @typedef {{ version: number, approvals_per_hour: number | null, retention_days: number | null, rules: Rules, agents: { agent_id: number, rules: Rules }[] }} Draft */
/** @typedef {import('../types/shapes').Answered<'/api/agents', 'get'>['agents']} Agents */

const WORDS = ['allowed', 'needs_approval', 'forbidden'];
const choices = worded((word) => t(`rule.${word}`), WORDS);
/** @type {FieldSpec[]} */
const RULES = [
  { name: 'write', kind: 'choice', options: choices, hint: 'policy.hintWrite' },
  { name: 'money', kind: 'choice', options: choices, hint: 'policy.hintMoney' },
  { name: 'destructive', kind: 'choice', options: choices, hint: 'policy.hintDestructive' },
  { name: 'calls_per_day', kind: 'number', hint: 'policy.hintDay' },
  { name: 'money_per_day', kind: 'money', hint: 'policy.hintAmount' },
];
/** @type {FieldSpec[]} */
const LIMITS = [{ name: 'approvals_per_hour', kind: 'number', required: true }, { name: 'retention_days', kind: 'number', required: true, min: 1, hint: 'policy.hintLog' }];
/** @type {Rules} */
const EMPTY = { write: null, money: null, destructive: null, operations: [], calls_per_day: null, money_per_day: null };

/** @param {Policy['rules']} rules @returns {Rules} */
const shownRules = (rules) => ({ ...rules, money_per_day: rules.money_per_day == null ? null : (rules.money_per_day / 100).toFixed(2) });

/** A text that is no amount stays as it is, so that the service refuses it. @param {Rules} rules */
function sentRules({ money_per_day: amount, ...rules }) {
  const minor = Math.round(Number(amount) * 100);
  return { ...rules, money_per_day: amount === null ? null : Number.isFinite(minor) ? minor : amount };
}

/** @param {Policy} policy @returns {Draft} */
const draftOf = ({ version, approvals_per_hour, retention_days, rules, agents }) => ({
  version, approvals_per_hour, retention_days, rules: shownRules(rules), agents: agents.map((one) => ({ agent_id: one.agent_id, rules: shownRules(one.rules) })),
});

/** Operations that a rule can name, from the API description. @returns {Promise<string[]>} */
const operations = () => once('operations', async () => {
  const { body } = await send('GET', '/openapi.json', undefined);
  return Object.entries(body.paths).flatMap(([path, methods]) => Object.entries(/** @type {Record<string, any>} */ (methods))
    .filter(([, one]) => one['x-agent-class'] && one['x-agent-class'] !== 'read').map(([method]) => `${method.toUpperCase()} ${path}`));
});

/** @param {string} query @returns {Promise<import('../lib/picker.js').Choice[]>} */
async function findOperations(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (await operations()).map((operation, value) => ({ value, label: operationText(operation), note: operation, record: operation }));
  return found.filter(({ label, note }) => words.every((word) => `${label} ${note}`.toLowerCase().includes(word))).slice(0, 12);
}

/** @param {AbortSignal} signal */
async function load(signal) {
  const [{ agentPolicy }, { agents }] = await Promise.all([
    get('/api/agent-policy', {}, { signal }), can('view-agents') ? get('/api/agents', { per_page: 100 }, { signal }) : { agents: /** @type {Agents} */ ([]) },
  ]);
  return { policy: agentPolicy, agents };
}

export default function AgentPolicy() {
  const loaded = useLoad(load, []);
  return html`<${Loading} of=${loaded}>${(/** @type {Awaited<ReturnType<typeof load>>} */ data) => html`<${Editor} ...${data}
    set=${(/** @type {Policy} */ policy) => loaded.set({ ...data, policy })} reload=${loaded.reload} />`}<//>`;
}

/** @param {{ policy: Policy, agents: Agents, set: (policy: Policy) => void, reload: () => void }} props */
function Editor({ policy, agents, set, reload }) {
  const [draft, setDraft] = useState(/** @type {Draft | null} */ (null));
  const [errors, setErrors] = useState(/** @type {Record<string, string[]>} */ ({}));
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const id = useId('policy');
  const edits = can('edit-agent-actions');
  const base = draftOf(policy);
  const form = draft ?? base;
  const dirty = useRef(false);
  dirty.current = draft !== null;
  useEffect(() => guard(() => dirty.current), []);
  const names = new Map(agents.map((agent) => [agent.id, agent.name]));
  const edit = (/** @type {Partial<Draft>} */ changes) => setDraft({ ...form, ...changes });
  const editAgent = (/** @type {number} */ agent, /** @type {Rules} */ rules) => edit({ agents: form.agents.map((one) => (one.agent_id === agent ? { agent_id: agent, rules } : one)) });
  const discard = () => {
    setDraft(null);
    setErrors({});
    setProblem('');
    reload();
  };
  const save = async () => {
    if (!draft || busy) return;
    setBusy(true);
    setErrors({});
    setProblem('');
    try {
      const body = { ...draft, refuses_writes: policy.refuses_writes, rules: sentRules(draft.rules), agents: draft.agents.map(({ agent_id, rules }) => ({ agent_id, rules: sentRules(rules) })) };
      set((await put('/api/agent-policy', {}, body)).agentPolicy);
      setDraft(null);
      toast(t('saved'));
    } catch (error) {
      if (error instanceof ApiError && Object.keys(error.fields).length) {
        setErrors(error.fields);
        setProblem(t('form.check'));
      } else if (error instanceof ApiError) setProblem(reason(error));
      else complain(error);
    }
    setBusy(false);
  };
  const halt = async () => {
    const refuses = !policy.refuses_writes;
    const word = refuses ? 'stop' : 'start';
    if (!(await confirm({ title: t(`policy.${word}Ask`), text: t(`policy.${word}Text`), confirm: t(`policy.${word}`), danger: refuses }))) return;
    await attempt(async () => {
      // The policy as it is now, so that a change by others does not hold the switch up.
      const { agentPolicy: now } = await get('/api/agent-policy');
      const { agentPolicy: next } = await put('/api/agent-policy', {}, { ...now, refuses_writes: refuses });
      if (draft?.version === now.version) setDraft({ ...draft, version: next.version });
      set(next);
    }, t('saved'));
  };
  const pause = async (/** @type {Agents[number]} */ agent) => {
    if (await pauseAgent(agent.id, !agent.is_banned)) reload();
  };
  const submit = () => {
    const element = document.getElementById(id);
    if (element instanceof HTMLFormElement) element.requestSubmit();
  };
  useActions(edits ? [
    { id: 'policy-halt', label: t(policy.refuses_writes ? 'policy.start' : 'policy.stop'), icon: 'alert', run: () => void halt() },
    ...(draft ? [{ id: 'policy-save', label: t('save'), keys: 'ctrl+s', icon: 'check', form: id, run: submit }] : []),
  ] : []);
  const others = agents.filter((agent) => !form.agents.some((one) => one.agent_id === agent.id));
  const findAgents = async (/** @type {string} */ query) => others.filter(({ name }) => name.toLowerCase().includes(query.toLowerCase())).slice(0, 12).map((agent) => ({ value: agent.id, label: agent.name }));
  return html`<${Page} title=${t('nav.agentPolicy')} crumbs=${[{ label: t('nav.calls'), to: '/agent-actions' }]} note=${t('policy.note')} />
    <${Card} title=${t('policy.switches')} flush><ul class="list">
      <li><div class="grow"><b>${t('policy.project')}</b><p class="faint">${t('policy.projectText')}</p></div>
        <${Badge} kind=${policy.refuses_writes ? 'bad' : 'good'}>${t(policy.refuses_writes ? 'policy.stopped' : 'policy.works')}<//>
        ${edits && html`<button type="button" class="button" onClick=${halt}>${t(policy.refuses_writes ? 'policy.start' : 'policy.stop')}</button>`}</li>
      ${agents.map((agent) => html`<li key=${agent.id}><div class="grow"><${Link} to=${`/agents/${agent.id}`}>${agent.name}<//></div>${agentBadge(agent.is_banned)}
        ${can('edit-agents') && html`<button type="button" class="button small" aria-label=${`${t(agent.is_banned ? 'agent.resume' : 'agent.pause')}: ${agent.name}`}
          onClick=${() => pause(agent)}>${t(agent.is_banned ? 'agent.resume' : 'agent.pause')}</button>`}</li>`)}
    </ul><//>
    <form id=${id} class="form" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); void save(); }}>
      ${problem && html`<div class="form-problem" role="alert"><p>${problem}</p>
        ${Object.entries(errors).map(([path, messages]) => html`<p key=${path}>${maybe(`field.${path.split('.').at(-1) ?? ''}`) ?? path} (${path}): ${messages.join(', ')}</p>`)}</div>`}
      <fieldset disabled=${!edits} class="form">
        <${Card} title=${t('policy.rules')}>
          <${RulesEditor} place="rules" rules=${form.rules} base=${base.rules} errors=${errors} edits=${edits} onChange=${(/** @type {Rules} */ rules) => edit({ rules })} />
          <h3>${t('policy.approvers')}</h3>
          <${Fields} place="" fields=${LIMITS} values=${form} base=${base} errors=${errors} onChange=${edit} />
        <//>
        ${form.agents.map(({ agent_id: agent, rules }, index) => html`<${Card} key=${agent} title=${t('policy.ofAgent', { name: names.get(agent) ?? `№ ${agent}` })}
            actions=${edits && html`<button type="button" class="button small" onClick=${() => edit({ agents: form.agents.filter((one) => one.agent_id !== agent) })}><${Icon} name="trash" size=${14} />${t('delete')}</button>`}>
          <${RulesEditor} place=${`agents.${index}.rules`} rules=${rules} base=${base.agents.find((one) => one.agent_id === agent)?.rules} errors=${errors} edits=${edits}
            onChange=${(/** @type {Rules} */ next) => editAgent(agent, next)} /><//>`)}
        ${edits && others.length > 0 && html`<${Card} title=${t('policy.addAgent')}><p class="note">${t('policy.addAgentText')}</p>
          <${Picker} clears id=${`${id}-agent`} label=${t('policy.addAgent')} find=${findAgents}
            onChange=${(/** @type {any} */ choice) => choice && edit({ agents: [...form.agents, { agent_id: choice.value, rules: EMPTY }] })} /><//>`}
        ${form.agents.length === 0 && !edits && html`<${Empty} icon="agents" title=${t('policy.agentsNone')} />`}
      </fieldset>
      ${draft && html`<footer class="form-foot dirty">
        <button class="button primary" disabled=${busy}>${t(busy ? 'saving' : 'save')}</button>
        <button type="button" class="link" onClick=${discard}>${t('form.discard')}</button>
        <span class="note">${t('policy.ends')}</span></footer>`}
    </form>`;
}

/** @param {{ place: string, fields: FieldSpec[], values: Record<string, any>, base: Record<string, any> | undefined, errors: Record<string, string[]>, onChange: (changes: Record<string, any>) => void }} props */
function Fields({ place, fields, values, base, errors, onChange }) {
  const id = useId('policy');
  return html`<div class="form-fields">${fields.map((field) => html`<${Field} key=${field.name} id=${`${id}-${field.name}`} field=${field} value=${values[field.name]} values=${values}
    errors=${errors[place ? `${place}.${field.name}` : field.name] ?? []} changed=${!same(values[field.name], base?.[field.name])} onChange=${(/** @type {any} */ value) => onChange({ [field.name]: value })} />`)}</div>`;
}

/** Rules of the project or of an agent. @param {{ place: string, rules: Rules, base: Rules | undefined, errors: Record<string, string[]>, edits: boolean, onChange: (rules: Rules) => void }} props */
function RulesEditor({ place, rules, base, errors, edits, onChange }) {
  const id = useId('operation');
  const set = (/** @type {Rules['operations']} */ operations) => onChange({ ...rules, operations });
  const add = (/** @type {import('../lib/picker.js').Choice | null} */ choice) => {
    if (choice && !rules.operations.some(({ operation }) => operation === choice.record)) set([...rules.operations, { operation: choice.record, rule: 'forbidden' }]);
  };
  return html`<${Fields} place=${place} fields=${RULES} values=${rules} base=${base} errors=${errors} onChange=${(/** @type {Record<string, any>} */ changes) => onChange({ ...rules, ...changes })} />
    <h3>${t('policy.operations')}</h3>
    ${rules.operations.length === 0 && html`<p class="note">${t('policy.operationsNone')}</p>`}
    <ul class="list">${rules.operations.map(({ operation, rule }) => html`<li key=${operation}>
      <div class="grow"><b>${operationText(operation)}</b><p class="faint code prewrap">${operation}</p></div>
      <select aria-label=${operationText(operation)} value=${rule} onChange=${(/** @type {any} */ e) => set(rules.operations.map((one) => (one.operation === operation ? { operation, rule: e.target.value } : one)))}>
        ${WORDS.map((word) => html`<option key=${word} value=${word} selected=${word === rule}>${t(`rule.${word}`)}</option>`)}</select>
      ${edits && html`<button type="button" class="icon-button" aria-label=${`${t('delete')}: ${operationText(operation)}`} onClick=${() => set(rules.operations.filter((one) => one.operation !== operation))}><${Icon} name="close" size=${16} /></button>`}
    </li>`)}</ul>
    ${edits && html`<div class="field"><label for=${id}>${t('policy.addOperation')}</label><${Picker} clears id=${id} label=${t('policy.addOperation')} find=${findOperations} onChange=${add} /></div>`}`;
}
