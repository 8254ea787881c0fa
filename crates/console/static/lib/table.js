// @ts-check
// One component draws every table of the API: columns from the answer, filters and sorts from its description.
import { get } from './api.js';
import { date, dateTime, money, number, phone } from './format.js';
import { Component, cx, html, useEffect, useMemo, useRef, useState } from './html.js';
import { maybe, t } from './i18n.js';
import { Icon } from './icons.js';
import { inSequence, keyName, singleKeys, typing } from './keys.js';
import { useLoad } from './load.js';
import { Link, navigate, place, screenOf, setQuery } from './router.js';
import { Filters } from './table-filters.js';
import { answerOf, clearFilters, narrowed, PAGE_SIZES, requestOf, sortBy, useColumns, useViews } from './table-state.js';
import { Bulk } from './table-bulk.js';
import { Badge, Empty, Failure, Picture, Skeleton } from './ui.js';

/** @typedef {Record<string, any> & { id: any }} Row */
/** @typedef {{ key: string, text: string }} Column */
/** @typedef {{ key: string, label: string, icon: string, run: (row: Row) => void, when?: (row: Row) => boolean }} RowAction */

/** The number of a row. @param {Row} row @returns {number} */
export const idOf = (row) => Number(row.id?.value ?? row.id);

/** The text of a cell of the API, which may be a link or a record with a name. @param {any} cell */
export const textOf = (cell) => (cell && typeof cell === 'object' ? ('value' in cell ? cell.value : cell.name) : cell);

/** @type {RowAction[]} */
const NONE = [];
/** @type {Record<string, (row: Row) => any>} */
const PLAIN = {};
const MONEY = new Set(['price', 'total', 'amount', 'final_price', 'amount_due', 'discount_amount', 'used_amount']);
const NUMBERS = new Set(['discounts', 'nomenclatures', 'quantity', 'reserved', 'available', 'code', 'orders_count', 'used_count', 'views_count', 'updated', 'errors_total']);

/**
 * Draws a cell by its key and value.
 * @param {string} key
 * @param {any} cell
 */
function cellOf(key, cell) {
  const value = textOf(cell);
  if (value === null || value === undefined || value === '') return html`<span class="faint">–</span>`;
  if (typeof value === 'boolean') return html`<${Badge} kind=${value ? 'info' : 'plain'}>${t(value ? 'yes' : 'no')}<//>`;
  if (MONEY.has(key)) return money(value);
  if (NUMBERS.has(key)) return number(Number(value));
  if (key === 'phone' || key === 'phone_1') return phone(value);
  if (key.endsWith('_at') || key.endsWith('_end') || key === 'deadline') return html`<time datetime=${value}>${dateTime(value)}</time>`;
  if (key === 'birthday') return date(value);
  if (key === 'status') return html`<${Badge}>${value}<//>`;
  return String(value);
}

/**
 * @param {object} props
 * @param {string} props.id
 * @param {import('./tables.js').Description} props.table
 * @param {(row: Row) => string} [props.to] address that Enter opens
 * @param {Record<string, unknown>} [props.fixed] parameters that the screen sets
 * @param {string} [props.order] order without a choice
 * @param {RowAction[]} [props.actions]
 * @param {import('./table-bulk.js').BulkAction[]} [props.bulk]
 * @param {Record<string, (row: Row) => any>} [props.cells] own drawing of columns
 * @param {any} [props.extra]
 * @param {{ icon?: string, title: string, text?: string, action?: any }} [props.empty]
 * @param {number} [props.round] another number loads again
 * @param {string} [props.picture] column with a picture
 */
export function Table({ id, table, to, fixed = {}, order, actions = NONE, bulk = [], cells = PLAIN, extra, empty, round = 0, picture }) {
  const { query } = place.use();
  const request = requestOf(table, query, fixed, order);
  const loaded = useLoad((signal) => get(/** @type {any} */ (table.path), request, { signal }), [table.path, request, round]);
  const chosen = useColumns(id, table);
  const views = useViews(id);
  const [selected, setSelected] = useState(() => /** @type {Map<number, Row>} */ (new Map()));
  const [at, setAt] = useState(0);
  const body = useRef(/** @type {HTMLElement | null} */ (null));
  const anchor = useRef(0);
  const answer = useMemo(() => answerOf(table, loaded.data), [loaded.data]);
  const rows = /** @type {Row[]} */ (answer?.[table.root] ?? []);
  const columns = /** @type {Column[]} */ ((answer?.columns ?? []).map((/** @type {any} */ column) => ({
    key: column.key, text: maybe(`column.${table.root}.${column.key}`) ?? maybe(`column.${column.key}`) ?? maybe(`field.${column.key}`) ?? column.text,
  })));
  const shown = columns.filter((column) => !chosen.hidden.includes(column.key));
  const paging = answer?.pagination;
  const current = Math.min(at, Math.max(rows.length - 1, 0));
  const sort = /** @type {string | undefined} */ (request.order_by);

  const focus = (/** @type {number} */ index) => {
    const next = Math.max(0, Math.min(index, rows.length - 1));
    setAt(next);
    const row = body.current?.children[next];
    if (row instanceof HTMLElement) row.focus();
  };
  const select = (/** @type {number} */ index, range = false) => {
    const [first, last] = range ? [Math.min(anchor.current, index), Math.max(anchor.current, index)] : [index, index];
    anchor.current = index;
    setSelected((/** @type {Map<number, Row>} */ before) => {
      const next = new Map(before);
      const row = rows[index];
      const on = row && !next.has(idOf(row));
      for (const one of rows.slice(first, last + 1)) {
        if (on) next.set(idOf(one), one);
        else next.delete(idOf(one));
      }
      return next;
    });
  };
  const all = rows.length > 0 && rows.every((row) => selected.has(idOf(row)));
  const selectPage = () => {
    const next = new Map(selected);
    for (const row of rows) {
      if (all) next.delete(idOf(row));
      else next.set(idOf(row), row);
    }
    setSelected(next);
  };
  const turn = (/** @type {number} */ page) => {
    if (paging && page >= 1 && page <= paging.last_page) {
      setQuery({ page: page === 1 ? null : page });
      setAt(0);
    }
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (event.altKey || typing(event.target) || inSequence()) return;
    const name = keyName(event);
    const row = rows[current];
    const single = singleKeys.get() && !event.ctrlKey && !event.metaKey;
    if ((event.ctrlKey || event.metaKey) && name === 'a' && bulk.length) selectPage();
    else if (event.key === 'ArrowDown' || (single && name === 'j')) focus(current + 1);
    else if (event.key === 'ArrowUp' || (single && name === 'k')) focus(current - 1);
    else if (event.key === 'Home') focus(0);
    else if (event.key === 'End') focus(rows.length - 1);
    else if (event.key === 'PageDown' || (single && name === ']')) turn((paging?.current_page ?? 1) + 1);
    else if (event.key === 'PageUp' || (single && name === '[')) turn((paging?.current_page ?? 1) - 1);
    else if (event.key === 'Escape' && selected.size) setSelected(new Map());
    else if (row && event.target instanceof HTMLTableRowElement && event.key === 'Enter' && to) void navigate(to(row));
    else if (row && event.target instanceof HTMLTableRowElement && bulk.length && (event.key === ' ' || (single && name === 'x'))) select(current, event.shiftKey);
    else {
      const action = single && row ? actions.find((one) => one.key === name && (one.when?.(row) ?? true)) : undefined;
      if (!action || !row) return;
      action.run(row);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  // The first rows take the focus, so that keys work at once; typing in the search keeps it.
  const arrived = useRef(false);
  useEffect(() => {
    if (arrived.current || !rows.length || document.querySelector('dialog[open]')) return;
    arrived.current = true;
    const active = document.activeElement;
    if (active === document.body || active?.tagName === 'H1' || active?.id === 'main') focus(0);
  }, [rows.length]);
  useEffect(() => {
    const slash = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== '/' && event.code !== 'Slash') return;
      if (typing(event.target) || event.ctrlKey || event.metaKey || event.shiftKey || !singleKeys.get() || document.querySelector('dialog[open]')) return;
      const field = document.querySelector('[data-filter]');
      if (field instanceof HTMLElement) {
        event.preventDefault();
        field.focus();
      }
    };
    document.addEventListener('keydown', slash);
    return () => document.removeEventListener('keydown', slash);
  }, []);

  const narrow = narrowed(table, query, Object.keys(fixed));
  return html`<section class="table-frame" aria-busy=${loaded.loading}>
    <${Filters} table=${table} columns=${columns} chosen=${chosen} views=${views} keep=${Object.keys(fixed)} busy=${loaded.loading} extra=${extra} />
    ${bulk.length > 0 && selected.size > 0 && html`<${Bulk} rows=${[...selected.values()].map((row) => rows.find((one) => idOf(one) === idOf(row)) ?? row)} actions=${bulk}
      clear=${() => setSelected(new Map())} done=${loaded.reload} />`}
    ${loaded.error && html`<${Failure} error=${loaded.error} retry=${loaded.reload} />`}
    ${!loaded.error && !answer && html`<${Skeleton} lines=${8} />`}
    ${answer && rows.length === 0 && (narrow
      ? html`<${Empty} icon="search" title=${t('table.nothing')} text=${t('table.nothingText')}>
          <button type="button" class="button" onClick=${() => clearFilters(table, Object.keys(fixed))}>${t('table.clear')}</button><//>`
      : html`<${Empty} icon=${empty?.icon ?? 'box'} title=${empty?.title ?? t('table.empty')} text=${empty?.text}>${empty?.action}<//>`)}
    ${rows.length > 0 && html`<div class=${cx('table-scroll', loaded.loading && 'stale')}>
      <table role="grid" aria-rowcount=${paging?.total} aria-multiselectable=${bulk.length > 0} onKeyDown=${keys}>
        <thead role="rowgroup"><tr role="row">
          ${bulk.length > 0 && html`<th scope="col" class="pick"><input type="checkbox" aria-label=${t('table.selectPage')} checked=${all} onChange=${selectPage} /></th>`}
          ${shown.map((column) => html`<${Head} key=${column.key} column=${column} sortable=${table.sorts.includes(column.key)} sort=${sort} />`)}
          ${actions.length > 0 && html`<th scope="col" class="act"><span class="sr-only">${t('table.actions')}</span></th>`}
        </tr></thead>
        <tbody ref=${body} role="rowgroup">
          ${rows.map((row, index) => html`<${Line} key=${textOf(row.id)} row=${row} index=${index} first=${paging?.from ?? 1} current=${index === current}
            selected=${selected.has(idOf(row))} columns=${shown} to=${to} actions=${actions} pickable=${bulk.length > 0} cells=${cells} picture=${picture}
            pick=${select} enter=${setAt} />`)}
        </tbody>
      </table>
    </div>`}
    ${paging && rows.length > 0 && html`<footer class="pager">
      <span role="status">${t('table.rows', { from: number(paging.from), to: number(paging.to), total: number(paging.total) })}</span>
      <span class="grow" />
      <label class="inline-label">${t('table.perPage')} <select value=${String(request.per_page)}
        onChange=${(/** @type {any} */ e) => setQuery({ size: e.target.value, page: null })}>${PAGE_SIZES.map((size) => html`<option key=${size} value=${String(size)} selected=${size === request.per_page}>${size}</option>`)}</select></label>
      <button type="button" class="icon-button" aria-label=${t('table.previous')} disabled=${paging.current_page <= 1} onClick=${() => turn(paging.current_page - 1)}><${Icon} name="left" /></button>
      <span>${t('table.page', { page: paging.current_page, last: paging.last_page })}</span>
      <button type="button" class="icon-button" aria-label=${t('table.next')} disabled=${paging.current_page >= paging.last_page} onClick=${() => turn(paging.current_page + 1)}><${Icon} name="chevron" /></button>
    </footer>`}
  </section>`;
}

/** @param {{ column: Column, sortable: boolean, sort: string | undefined }} props */
function Head({ column, sortable, sort }) {
  const direction = sort === `${column.key}_asc` ? 'ascending' : sort === `${column.key}_desc` ? 'descending' : undefined;
  const right = MONEY.has(column.key) || NUMBERS.has(column.key);
  return html`<th scope="col" class=${cx(right && 'right')} aria-sort=${direction ?? (sortable ? 'none' : undefined)}>
    ${sortable ? html`<button type="button" onClick=${() => sortBy(column.key, sort)}>${column.text}
      ${direction && html`<${Icon} name=${direction === 'ascending' ? 'up' : 'down'} size=${14} />`}</button>` : column.text}
  </th>`;
}

/** A row. It is drawn again only if it changes. */
class Line extends Component {
  /** @param {any} next */
  shouldComponentUpdate(next) {
    const before = this.props;
    return ['row', 'index', 'current', 'selected', 'pickable', 'actions', 'cells'].some((name) => before[name] !== next[name])
      || before.columns.length !== next.columns.length
      || before.columns.some((/** @type {Column} */ column, /** @type {number} */ index) => column.key !== next.columns[index].key || column.text !== next.columns[index].text);
  }

  render() {
    const { row, index, first, current, selected, columns, to, actions, pickable, cells, picture, pick, enter } = this.props;
    const target = to?.(row);
    const click = (/** @type {MouseEvent} */ event) => {
      if (event.target instanceof Element && event.target.closest('a, button, input, label')) return;
      if (target && !getSelection()?.toString()) void navigate(target);
    };
    return html`<tr role="row" tabindex=${current ? 0 : -1} aria-rowindex=${first + index} aria-selected=${pickable ? selected : undefined}
      class=${cx(target && 'opens', selected && 'picked')} onClick=${click} onFocus=${() => enter(index)}>
      ${pickable && html`<td role="gridcell" class="pick"><input type="checkbox" tabindex="-1" aria-label=${t('table.select', { id: idOf(row) })} checked=${selected}
        onClick=${(/** @type {MouseEvent} */ event) => pick(index, event.shiftKey)} /></td>`}
      ${columns.map((/** @type {Column} */ column, /** @type {number} */ place) => {
        const cell = row[column.key];
        const link = place === 0 || cell?.link ? (place === 0 ? target : null) ?? screenOf(cell?.link) : null;
        const drawn = cells[column.key]?.(row) ?? cellOf(column.key, cell);
        const named = picture === column.key ? html`<${Picture} url=${cell?.icon} size=${28} /> ${drawn}` : drawn;
        return html`<td role="gridcell" key=${column.key} data-label=${column.text} class=${cx((MONEY.has(column.key) || NUMBERS.has(column.key)) && 'right', picture === column.key && 'pictured')}>
          ${link ? html`<${Link} to=${link} tabindex="-1">${named}<//>` : named}</td>`;
      })}
      ${actions.length > 0 && html`<td role="gridcell" class="act">${actions.filter((/** @type {RowAction} */ action) => action.when?.(row) ?? true).map((/** @type {RowAction} */ action) => html`<button type="button"
        key=${action.key} tabindex="-1" class="button small" onClick=${() => action.run(row)}><${Icon} name=${action.icon} size=${14} />${action.label}<kbd aria-hidden="true">${action.key.toUpperCase()}</kbd></button>`)}</td>`}
    </tr>`;
  }
}
