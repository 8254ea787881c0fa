// @ts-check
// State of a table: the query string of the address, chosen columns and saved views.
import { recall, remember, useState } from './html.js';
import { place, setQuery } from './router.js';

/** @typedef {import('./tables.js').Description} Description */
/** @typedef {{ name: string, search: string }} View */

export const PAGE_SIZES = [25, 50, 100];

/** Names of the parameters that a filter takes. @param {import('./tables.js').Filter} filter */
export function parametersOf(filter) {
  if (filter.kind === 'range') return [`${filter.name}_gt`, `${filter.name}_lt`];
  if (filter.kind === 'dates') return ['date_from', 'date_to'];
  return [filter.name];
}

/**
 * Reads the request of a table from the address. Unknown parameters are ignored.
 * @param {Description} table
 * @param {URLSearchParams} query
 * @param {Record<string, unknown>} fixed parameters that the screen sets
 * @param {string} [order] order without a choice
 */
export function requestOf(table, query, fixed, order) {
  /** @type {Record<string, unknown>} */
  const request = {};
  for (const filter of table.filters) {
    for (const name of parametersOf(filter)) {
      const values = query.getAll(name);
      if (values.length) request[name] = filter.kind === 'choice' && !filter.single ? values : values[0];
    }
  }
  const text = query.get('q');
  if (table.search && text) request.query = text;
  const sort = query.get('sort') ?? order;
  if (sort && table.sorts.some((column) => sort === `${column}_asc` || sort === `${column}_desc`)) request.order_by = sort;
  const size = Number(query.get('size'));
  request.per_page = PAGE_SIZES.includes(size) ? size : PAGE_SIZES[0];
  const page = Number(query.get('page'));
  if (Number.isInteger(page) && page > 1) request.page = page;
  return { ...request, ...fixed };
}

/** The answer of a table. A list without columns of its own gets those of its description. @param {Description} table @param {any} body */
export function answerOf(table, body) {
  if (!body || !table.columns) return body;
  const list = body.data ?? body;
  return {
    ...list, columns: table.columns.map((key) => ({ key, text: key })),
    [table.root]: list[table.root].map((/** @type {any} */ row) => ({ ...row, id: row[table.key ?? 'id'] })),
  };
}

/** `true` if filters or a search narrow the table, beside those of the screen. @param {Description} table @param {URLSearchParams} query @param {string[]} keep */
export function narrowed(table, query, keep) {
  return Boolean(query.get('q')) || table.filters.some((filter) => parametersOf(filter).some((name) => !keep.includes(name) && query.has(name)));
}

/** Removes filters and search. @param {Description} table @param {string[]} [keep] parameters that stay */
export function clearFilters(table, keep = []) {
  const names = table.filters.flatMap(parametersOf).filter((name) => !keep.includes(name));
  setQuery(Object.fromEntries([...names, 'q', 'page'].map((name) => [name, null])), { push: true });
}

/** Sorts by a column, or turns its order. @param {string} column @param {string | undefined} current */
export function sortBy(column, current) {
  setQuery({ sort: current === `${column}_asc` ? `${column}_desc` : `${column}_asc`, page: null });
}

/** Columns that the employee chose for a table. @param {string} id @param {Description} table */
export function useColumns(id, table) {
  const [hidden, setHidden] = useState(() => recall(`columns.${id}`, table.hidden ?? []));
  return {
    hidden,
    /** @param {string} key */
    toggle(key) {
      const next = hidden.includes(key) ? hidden.filter((one) => one !== key) : [...hidden, key];
      setHidden(next);
      remember(`columns.${id}`, next);
    },
  };
}

/** The view that the address holds: filters, search, sort and page size. */
function searchNow() {
  const query = new URLSearchParams(place.get().query);
  query.delete('page');
  return query.toString();
}

/** Returns a link to the view of the address, for colleagues. */
export function viewLink() {
  const search = searchNow();
  return location.origin + location.pathname + (search && `?${search}`);
}

/** Saved views of a table: a name for filters, search, sort and page size. They are kept in this browser. @param {string} id */
export function useViews(id) {
  const [views, setViews] = useState(() => recall(`views.${id}`, /** @type {View[]} */ ([])));
  const keep = (/** @type {View[]} */ next) => {
    setViews(next);
    remember(`views.${id}`, next);
  };
  return {
    views,
    /** @param {string} name */
    save: (name) => keep([...views.filter((view) => view.name !== name), { name, search: searchNow() }]),
    /** @param {string} name */
    drop: (name) => keep(views.filter((view) => view.name !== name)),
  };
}
