// @ts-check
// Correction of many figures: scanned, typed, or pasted from a spreadsheet. Nothing is written before "apply".
import { get, send } from '../lib/api.js';
import { toast } from '../lib/dialog.js';
import { number } from '../lib/format.js';
import { cx, html, useEffect, useId, useMemo, useRef, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { useLoad } from '../lib/load.js';
import { guard } from '../lib/router.js';
import { textOf } from '../lib/table.js';
import { options } from '../lib/tables.js';
import { Badge, Card, Loading, Page, reason } from '../lib/ui.js';

/** @typedef {{ id: number, name: string, quantity: number, match: string }} Level */
/** @typedef {{ key: number, article: string, count: string, level: Level | null, state: 'new' | 'looking' | 'found' | 'missing' | 'done' | 'failed', note: string, before: number | null }} Line */

let lastKey = 0;
/** @param {string} [article] @param {string} [count] @returns {Line} */
const lineOf = (article = '', count = '') => ({ key: ++lastKey, article, count, level: null, state: 'new', note: '', before: null });

/** Rows of pasted cells; a head line without figures is left out. @param {string} text @returns {[string, string][]} */
export function pasted(text) {
  const rows = text.split(/\r?\n/).filter((line) => line.trim()).map((line) => line.split(/\t|;/).map((cell) => cell.trim()));
  const figure = (/** @type {string | undefined} */ cell) => (cell ?? '').replace(/[\s\u00a0]/g, '').replace(/[.,]0+$/, '');
  return rows.map((cells) => /** @type {[string, string]} */ ([cells[0] ?? '', figure(cells[1])]))
    .filter(([article, count], index) => article && !(index === 0 && count !== '' && !/^\d+$/.test(count)));
}

export default function StockCorrect() {
  const warehouses = useLoad(() => options.warehouses(), []);
  return html`<${Page} title=${t('nav.correct')} crumbs=${[{ label: t('nav.stock'), to: '/stock' }]} note=${t('correct.note')} />
    <${Loading} of=${warehouses}>${(/** @type {import('../lib/tables.js').Option[]} */ list) => html`<${Sheet} warehouses=${list} />`}<//>`;
}

/** @param {{ warehouses: import('../lib/tables.js').Option[] }} props */
function Sheet({ warehouses }) {
  const [warehouse, setWarehouse] = useState(String(warehouses[0]?.value ?? ''));
  const [lines, setLines] = useState(/** @type {Line[]} */ ([]));
  const [scan, setScan] = useState('');
  const [comment, setComment] = useState('');
  const [busy, setBusy] = useState(false);
  const now = useRef(lines);
  now.current = lines;
  const table = useRef(/** @type {HTMLElement | null} */ (null));
  const id = useId('correct');
  const open = lines.filter((line) => line.state !== 'done' && line.count !== '');
  useEffect(() => guard(() => now.current.some((line) => line.state !== 'done' && line.count !== '')), []);

  useEffect(() => document.getElementById(`${id}-scan`)?.focus(), []);
  const change = (/** @type {number} */ key, /** @type {Partial<Line>} */ values) => {
    now.current = now.current.map((line) => (line.key === key ? { ...line, ...values } : line));
    setLines(now.current);
  };
  /** Finds the stock level of an article in the warehouse. @param {Line} line @param {string} place */
  const look = async (line, place) => {
    if (!line.article) return;
    change(line.key, { state: 'looking', note: '' });
    try {
      const answer = /** @type {any} */ (await get('/api/tables/inventories', { query: line.article, ...(place ? { warehouse_id: [place] } : {}), per_page: 50 }));
      const rows = answer.inventories.filter((/** @type {any} */ row) => String(row.article ?? '').toLowerCase() === line.article.toLowerCase());
      const row = rows.length === 1 ? rows[0] : null;
      change(line.key, row
        ? { state: 'found', level: { id: row.id, name: String(textOf(row.nomenclature)), quantity: row.quantity, match: `"${row.version}"` } }
        : { state: 'missing', level: null, note: t(rows.length ? 'correct.several' : 'correct.missing') });
    } catch (error) {
      change(line.key, { state: 'failed', note: reason(error) });
    }
  };
  /** Four at a time. @template T @param {T[]} list @param {(one: T) => Promise<unknown>} work */
  const inTurns = async (list, work) => {
    const rest = [...list];
    await Promise.all(Array.from({ length: 4 }, async () => {
      for (let one = rest.shift(); one !== undefined; one = rest.shift()) await work(one);
    }));
  };
  const take = (/** @type {[string, string][]} */ rows) => {
    const added = rows.map(([article, count]) => lineOf(article, count));
    now.current = [...now.current.filter((line) => line.article || line.count), ...added];
    setLines(now.current);
    void inTurns(added, (line) => look(line, warehouse));
  };
  const onPaste = (/** @type {ClipboardEvent} */ event, /** @type {number} */ at) => {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (!/[\t\n;]/.test(text.trim())) return;
    event.preventDefault();
    // A single column pasted into the counts fills them downwards.
    const column = text.trim().split(/\r?\n/);
    if (at >= 0 && column.every((cell) => /^\s*\d+\s*$/.test(cell))) {
      now.current = now.current.map((line, index) => (index >= at && index < at + column.length ? { ...line, count: (column[index - at] ?? '').trim() } : line));
      setLines(now.current);
    } else take(pasted(text));
  };
  const onScan = (/** @type {Event} */ event) => {
    event.preventDefault();
    const article = scan.trim();
    setScan('');
    if (!article) return;
    const known = now.current.find((line) => line.article.toLowerCase() === article.toLowerCase() && line.state !== 'done');
    if (known) change(known.key, { count: String((Number(known.count) || 0) + 1) });
    else take([[article, '1']]);
  };
  const again = (/** @type {string} */ place) => {
    setWarehouse(place);
    void inTurns(now.current.filter((line) => line.state !== 'done'), (line) => look(line, place));
  };
  /** @param {Line[]} chosen @param {(line: Line) => number} figure @param {Line['state']} to */
  const write = async (chosen, figure, to) => {
    setBusy(true);
    let done = 0;
    await inTurns(chosen, async (line) => {
      if (!line.level) return;
      const quantity = figure(line);
      try {
        const { etag } = await send('PUT', `/api/inventories/${line.level.id}`, { quantity, ...comment.trim() ? { comment: comment.trim() } : {} }, { match: line.level.match });
        change(line.key, { state: to, note: '', before: line.level.quantity, level: { ...line.level, quantity, match: etag ?? '*' } });
        done++;
      } catch (error) {
        change(line.key, { state: 'failed', note: reason(error) });
      }
    });
    setBusy(false);
    return done;
  };
  const ready = open.filter((line) => line.level && /^\d+$/.test(line.count) && Number(line.count) !== line.level.quantity);
  const apply = async () => {
    if (busy || ready.length === 0) return;
    const keys = ready.map((line) => line.key);
    const done = await write(ready, (line) => Number(line.count), 'done');
    const undo = () => void write(now.current.filter((line) => keys.includes(line.key) && line.state === 'done'), (line) => line.before ?? 0, 'found');
    if (done) toast(t('correct.applied', { n: done }), { action: { label: t('undo'), run: undo } });
  };
  const copy = () => navigator.clipboard.writeText(lines.map((line) => `${line.article}\t${line.count || line.level?.quantity || ''}`).join('\n')).then(() => toast(t('copied')), () => {});
  useActions([
    { id: 'apply', label: t('correct.apply', { n: ready.length }), icon: 'check', keys: 'ctrl+s', run: () => void apply() },
    { id: 'copy', label: t('correct.copy'), icon: 'copy', run: () => void copy() },
  ]);
  const keys = (/** @type {KeyboardEvent} */ event, /** @type {number} */ row, /** @type {'article' | 'count'} */ column) => {
    const to = event.key === 'ArrowDown' || (event.key === 'Enter' && column === 'count') ? row + 1 : event.key === 'ArrowUp' ? row - 1 : null;
    const above = lines[row - 1];
    const line = lines[row];
    if ((event.ctrlKey || event.metaKey) && event.code === 'KeyD' && column === 'count' && above && line) change(line.key, { count: above.count });
    else if (to !== null) {
      const field = table.current?.querySelector(`[data-cell="${column}-${to}"]`);
      if (field instanceof HTMLInputElement) {
        field.focus();
        field.select();
      }
    } else return;
    event.preventDefault();
  };
  const badge = useMemo(() => /** @type {Record<string, 'good' | 'bad' | 'warn' | 'plain'>} */ ({ done: 'good', failed: 'bad', missing: 'warn' }), []);
  return html`<${Card}>
    <div class="row">
      <div class="field"><label for=${`${id}-w`}>${t('field.warehouse_id')}</label>
        <select id=${`${id}-w`} value=${warehouse} onChange=${(/** @type {any} */ e) => again(e.target.value)}>
          ${warehouses.map((option) => html`<option key=${option.value} value=${String(option.value)} selected=${String(option.value) === warehouse}>${option.label}</option>`)}
          <option value="" selected=${warehouse === ''}>${t('all')}</option></select></div>
      <form class="field grow" onSubmit=${onScan}><label for=${`${id}-scan`}>${t('correct.scan')}</label>
        <input id=${`${id}-scan`} autocomplete="off" spellcheck=${false} autofocus placeholder=${t('correct.scanHint')} value=${scan}
          onInput=${(/** @type {any} */ e) => setScan(e.target.value)} onPaste=${(/** @type {ClipboardEvent} */ e) => onPaste(e, -1)} /></form>
      <div class="field grow"><label for=${`${id}-comment`}>${t('field.reason')}</label>
        <input id=${`${id}-comment`} maxlength="250" placeholder=${t('stock.commentHint')} value=${comment} onInput=${(/** @type {any} */ e) => setComment(e.target.value)} /></div>
    </div>
  <//>
  <section class="table-frame" aria-label=${t('nav.correct')}>
    ${lines.length > 0 && html`<div class="table-scroll"><table ref=${table}>
      <thead><tr><th scope="col">${t('field.article')}</th><th scope="col">${t('field.nomenclature_id')}</th><th scope="col" class="right">${t('column.quantity')}</th>
        <th scope="col" class="right">${t('correct.counted')}</th><th scope="col" class="right">${t('correct.difference')}</th><th scope="col">${t('field.status')}</th><th scope="col"><span class="sr-only">${t('table.actions')}</span></th></tr></thead>
      <tbody>${lines.map((line, index) => {
        const difference = line.level && /^\d+$/.test(line.count) ? Number(line.count) - line.level.quantity : null;
        return html`<tr key=${line.key}>
          <td><input aria-label=${t('field.article')} data-cell=${`article-${index}`} value=${line.article} disabled=${busy} onPaste=${(/** @type {ClipboardEvent} */ e) => onPaste(e, -1)}
            onInput=${(/** @type {any} */ e) => change(line.key, { article: e.target.value, level: null, state: 'new' })} onBlur=${() => line.state === 'new' && void look(line, warehouse)}
            onKeyDown=${(/** @type {KeyboardEvent} */ e) => keys(e, index, 'article')} /></td>
          <td>${line.level?.name ?? html`<span class="faint">–</span>`}</td><td class="right">${number(line.level?.quantity)}</td>
          <td class="right"><input class="grid-cell" inputmode="numeric" aria-label=${`${t('correct.counted')}: ${line.article}`} data-cell=${`count-${index}`} value=${line.count} disabled=${busy}
            aria-invalid=${(line.count !== '' && !/^\d+$/.test(line.count)) || undefined} onPaste=${(/** @type {ClipboardEvent} */ e) => onPaste(e, index)}
            onInput=${(/** @type {any} */ e) => change(line.key, { count: e.target.value.trim(), state: line.state === 'done' ? 'found' : line.state })} onKeyDown=${(/** @type {KeyboardEvent} */ e) => keys(e, index, 'count')} /></td>
          <td class=${cx('right', difference === 0 && 'faint')}>${difference === null ? '–' : `${difference > 0 ? '+' : ''}${number(difference)}`}</td>
          <td><${Badge} kind=${badge[line.state]}>${t(`correct.state.${line.state}`)}<//> <span class="note">${line.note}</span></td>
          <td class="act"><button type="button" class="icon-button" aria-label=${`${t('correct.remove')}: ${line.article}`} onClick=${() => setLines(lines.filter((one) => one.key !== line.key))}><${Icon} name="close" size=${16} /></button></td>
        </tr>`;
      })}</tbody>
    </table></div>`}
    ${lines.length === 0 && html`<p class="palette-none">${t('correct.empty')}</p>`}
    <footer class="pager">
      <button type="button" class="button" onClick=${() => setLines([...lines, lineOf()])}><${Icon} name="plus" size=${16} />${t('correct.addRow')}</button>
      <button type="button" class="button" disabled=${lines.length === 0} onClick=${copy}><${Icon} name="copy" size=${16} />${t('correct.copy')}</button>
      <span class="grow" />
      <button type="button" class="button primary" disabled=${busy || ready.length === 0} onClick=${apply}>${t('correct.apply', { n: ready.length })}</button>
    </footer>
  </section>`;
}
