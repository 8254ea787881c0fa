// @ts-check
// History of a record: who changed what, newest first. Beside a record, or in a dialog behind a button.
import { Dialog, open } from './dialog.js';
import { dateTime } from './format.js';
import { html, useState } from './html.js';
import { maybe, t } from './i18n.js';
import { Icon } from './icons.js';
import { useLoad } from './load.js';
import { Card, Loading } from './ui.js';

/** @typedef {{ field: string, old: string | null, new: string | null }} Change */
/** @typedef {{ id: number, dateTime: string, user: { name: string } | null, counterparty: { name: string } | null, action: string, event?: string, detail?: string | null, reason?: string, comment?: string | null, order_id?: number | null, changes: Change[] }} Entry */

const MOMENT = /^\d{4}-\d\d-\d\dT/;

/** @param {string | null} value */
const short = (value) => (value === null || value === '' ? '–' : MOMENT.test(value) ? dateTime(value) : value.length > 80 ? `${value.slice(0, 80)}…` : value);

/** A value in words: a status has a name, a flag is yes or no, an id has its sign. @param {string} field @param {string | null} value */
function words(field, value) {
  const status = field === 'status_id' ? maybe(`order.status.${value}`) : field === 'status' ? maybe(`subscription.status.${value}`) : null;
  if (status !== null) return status;
  if (value === 'true' || value === 'false') return t(value === 'true' ? 'yes' : 'no');
  return field.endsWith('_id') && /^\d+$/.test(value ?? '') ? `№ ${value}` : short(value);
}

/** The name of a changed field; dotted paths keep their end. @param {string} field */
const fieldText = (field) => maybe(`field.${field}`) ?? maybe(`field.${field.split('.').at(-1)}`) ?? field;

/** What happened, in words. @param {Entry} entry */
function eventText(entry) {
  if (entry.event) return maybe(`event.${entry.event}`) ?? entry.event;
  if (entry.reason) return maybe(`reason.${entry.reason}`) ?? entry.reason;
  return maybe(`history.${entry.action}`) ?? entry.action;
}

/**
 * @param {{ load: (page: number, signal: AbortSignal) => Promise<any>, round?: number, more?: (entry: Entry) => any, part?: (field: string) => string | undefined }} props
 * `load` answers with `histories` and `pagination`; `part` names the part of the record that a dotted field belongs to
 */
export function History({ load, round = 0, more, part }) {
  const [pages, setPages] = useState(1);
  const loaded = useLoad(async (signal) => {
    const answers = await Promise.all(Array.from({ length: pages }, (_, index) => load(index + 1, signal)));
    return { entries: answers.flatMap((answer) => answer.histories), last: answers[0]?.pagination?.last_page ?? 1 };
  }, [pages, round]);
  return html`<${Card} title=${t('history')}>
    <${Loading} of=${loaded} lines=${3}>${(/** @type {{ entries: Entry[], last: number }} */ { entries, last }) => html`
      ${entries.length === 0 && html`<p class="note">${t('history.none')}</p>`}
      <ul class="timeline">${entries.map((entry) => html`<li key=${entry.id}>
        <b>${eventText(entry)}</b>${(entry.detail ?? entry.comment) && html` <span>${entry.detail ?? entry.comment}</span>`} ${more?.(entry)}
        <p><time datetime=${entry.dateTime}>${dateTime(entry.dateTime)}</time> <span class="faint">· ${entry.user?.name ?? entry.counterparty?.name ?? t('history.system')}</span></p>
        ${entry.changes.length > 0 && html`<ul class="changes">${entry.changes.slice(0, 8).map((change) => html`<li key=${change.field}>
          ${[part?.(change.field), fieldText(change.field)].filter(Boolean).join(', ')}: <s>${words(change.field, change.old)}</s> → ${words(change.field, change.new)}</li>`)}</ul>`}
      </li>`)}</ul>
      ${pages < last && html`<button type="button" class="link" onClick=${() => setPages(pages + 1)}>${t('more')}</button>`}`}<//>
  <//>`;
}

/** A button that shows the history of a record in a dialog. @param {{ name: string, load: (page: number, signal: AbortSignal) => Promise<any> }} props */
export function HistoryButton({ name, load }) {
  const show = () => void open((close) => html`<${Dialog} title=${name} onClose=${() => close(null)}><${History} load=${load} /><//>`);
  return html`<button type="button" class="icon-button" aria-label=${`${t('history')}: ${name}`} onClick=${show}><${Icon} name="clock" size=${16} /></button>`;
}
