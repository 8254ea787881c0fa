// @ts-check
// Work on the selected rows, one after the other, with progress and a result for each.
import { Dialog, Menu } from './dialog.js';
import { html, useRef, useState } from './html.js';
import { t } from './i18n.js';
import { Icon } from './icons.js';
import { idOf } from './table.js';
import { Badge, reason } from './ui.js';

/** @typedef {import('./table.js').Row} Row */
/**
 * @typedef {object} BulkAction
 * @property {string} label
 * @property {string} icon
 * @property {(row: Row) => Promise<unknown>} [each] the write of one row
 * @property {(rows: Row[]) => void} [all] work on all rows at once
 * @property {(row: Row) => Promise<unknown>} [undo] takes the write of one row back
 * @property {boolean} [danger]
 */

/** @param {{ rows: Row[], actions: BulkAction[], clear: () => void, done: () => void }} props */
export function Bulk({ rows, actions, clear, done }) {
  const [running, setRunning] = useState(/** @type {BulkAction | null} */ (null));
  const start = (/** @type {BulkAction} */ action) => (action.all ? action.all(rows) : setRunning(action));
  const few = actions.slice(0, 3);
  return html`<div class="bulk" role="region" aria-label=${t('bulk.title')}>
    <b>${t('bulk.selected', { n: rows.length })}</b>
    ${few.map((action) => html`<button type="button" key=${action.label} class="button small" onClick=${() => start(action)}><${Icon} name=${action.icon} size=${14} />${action.label}</button>`)}
    ${actions.length > 3 && html`<${Menu} label=${t('bulk.more')} items=${actions.slice(3).map((action) => ({ label: action.label, icon: action.icon, run: () => start(action) }))} />`}
    <span class="grow" />
    <button type="button" class="link" onClick=${clear}>${t('bulk.clear')}</button>
    ${running && html`<${Run} action=${running} rows=${rows} close=${() => { setRunning(null); done(); }} />`}
  </div>`;
}

/** @typedef {{ row: Row, state: 'waiting' | 'done' | 'failed' | 'undone', note?: string }} Result */

/** Asks, runs and reports. @param {{ action: BulkAction, rows: Row[], close: () => void }} props */
export function Run({ action, rows, close }) {
  const [results, setResults] = useState(() => rows.map((row) => /** @type {Result} */ ({ row, state: 'waiting' })));
  const [phase, setPhase] = useState(/** @type {'asking' | 'running' | 'over'} */ ('asking'));
  const stopped = useRef(false);
  const count = (/** @type {Result['state']} */ state) => results.filter((result) => result.state === state).length;
  /** @param {(row: Row) => Promise<unknown>} work @param {Result['state']} from @param {Result['state']} to */
  const run = async (work, from, to) => {
    setPhase('running');
    stopped.current = false;
    const next = [...results];
    for (const [index, result] of next.entries()) {
      if (stopped.current) break;
      if (result.state !== from) continue;
      try {
        await work(result.row);
        next[index] = { row: result.row, state: to };
      } catch (error) {
        next[index] = { row: result.row, state: from === 'waiting' ? 'failed' : from, note: reason(error) };
      }
      setResults([...next]);
    }
    setPhase('over');
  };
  const { each, undo } = action;
  const finished = count('done') + count('failed') + count('undone');
  return html`<${Dialog} title=${action.label} locked=${phase === 'running'} onClose=${close} actions=${html`
    ${phase === 'running' && html`<button type="button" class="button" onClick=${() => (stopped.current = true)}>${t('bulk.stop')}</button>`}
    ${phase !== 'running' && html`<button type="button" class="button" onClick=${close}>${t(phase === 'asking' ? 'cancel' : 'close')}</button>`}
    ${phase === 'over' && undo && count('done') > 0 && html`<button type="button" class="button" onClick=${() => run(undo, 'done', 'undone')}><${Icon} name="undo" size=${16} />${t('undo')}</button>`}
    ${phase === 'asking' && each && html`<button type="button" autofocus class=${action.danger ? 'button danger' : 'button primary'} onClick=${() => run(each, 'waiting', 'done')}>${action.label}</button>`}`}>
    <p>${phase === 'asking' ? t('bulk.ask', { n: rows.length }) : t('bulk.progress', { done: finished, n: rows.length })}</p>
    ${phase !== 'asking' && html`<progress max=${rows.length} value=${finished} aria-label=${action.label} />
      <ul class="results">${results.map((result) => html`<li key=${idOf(result.row)}><span>№ ${idOf(result.row)}</span>
        <${Badge} kind=${result.state === 'failed' ? 'bad' : result.state === 'done' ? 'good' : 'plain'}>${t(`bulk.${result.state}`)}<//>
        ${result.note && html`<span class="note">${result.note}</span>`}</li>`)}</ul>`}
  <//>`;
}
