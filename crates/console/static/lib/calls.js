// @ts-check
// Calls of agents in words: operation, state, arguments. An approver must see exactly what will be executed.
import { html, useMemo } from './html.js';
import { maybe, t } from './i18n.js';
import { useLoad } from './load.js';
import { Badge } from './ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/agent-actions/{publicId}', 'get'>['agentAction']} Call */

/** Colours of the states. */
export const STATES = /** @type {Record<string, 'warn' | 'good' | 'bad' | 'info' | 'plain'>} */ ({
  proposed: 'warn', approved: 'info', refused: 'bad', expired: 'plain', executed: 'good', failed: 'bad', reported: 'good',
});

/** State of a call as a badge. The state `reported` does not say how the call ended; its status does. @param {Pick<Call, 'state' | 'status_code'>} call */
export const stateBadge = ({ state, status_code: status }) => html`<${Badge} kind=${state === 'reported' && (status ?? 0) >= 400 ? 'bad' : STATES[state]}>${t(`call.state.${state}`)}<//>`;

/** @param {string} segment */
const noun = (segment) => maybe(`noun.${segment}`) ?? maybe(`resource.${segment}`) ?? maybe(`act.${segment}`) ?? segment;

/** An operation in words: `PUT /api/inventories/{id}` is "Stock: change". @param {string} operation method and path template */
export function operationText(operation) {
  const [method = '', path = ''] = operation.split(' ');
  const words = path.split('/').slice(2).filter((part) => part && !part.startsWith('{'));
  const act = maybe(`act.${words.at(-1) ?? ''}`);
  const nouns = (act ? words.slice(0, -1) : words).map(noun).join(' · ');
  const verb = act ?? maybe(`act.${method}`) ?? method;
  return nouns ? `${nouns}: ${verb}` : verb;
}

/** Names by number, of what a dictionary lists. @param {() => Promise<import('./tables.js').Option[]>} options @returns {Map<string | number, string>} */
export function useNames(options) {
  const loaded = useLoad(options, []);
  return useMemo(() => new Map((loaded.data ?? []).map(({ value, label }) => [value, label])), [loaded.data]);
}

/** Characters without a form, and those that turn the text around, as their codes: an argument must not look like another. @param {string} text */
const visible = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
  (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Values of a JSON text by path: `lines.0.quantity`. @param {unknown} value @param {string} [path] @returns {[string, unknown][]} */
export function flatten(value, path = '') {
  const inner = value && typeof value === 'object' ? Object.entries(value) : [];
  return inner.length === 0 ? [[path, value]] : inner.flatMap(([key, one]) => flatten(one, path ? `${path}.${key}` : key));
}

/** @param {unknown} value */
function scalar(value) {
  if (value === null) return html`<span class="faint">${t('form.none')}</span>`;
  if (value === '') return html`<span class="faint">${t('call.blank')}</span>`;
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
  return typeof value === 'string' ? visible(value) : JSON.stringify(value);
}

/**
 * Values with their names, and those of the record as it is now if they differ.
 * @param {{ values: [string, unknown][], now?: Record<string, unknown> | null }} props
 */
export function Values({ values, now = null }) {
  return html`<dl class="facts">${values.map(([path, value]) => {
    const old = now && Object.hasOwn(now, path) ? now[path] : undefined;
    const differs = old !== undefined && (old === null || typeof old !== 'object') && String(old) !== String(value);
    return html`<div key=${path}><dt title=${path}>${maybe(`field.${path}`) ?? visible(path)}</dt>
      <dd class="prewrap">${differs && html`<s>${scalar(old)}</s> → `}${differs ? html`<b>${scalar(value)}</b>` : scalar(value)}</dd></div>`;
  })}</dl>`;
}
