// @ts-check
// The bar above a table: search, filters as badges that can be edited, columns, saved views.
import { confirm, Dialog, Menu, open } from './dialog.js';
import { html, useEffect, useId, useRef, useState } from './html.js';
import { maybe, t } from './i18n.js';
import { Icon } from './icons.js';
import { useLoad } from './load.js';
import { navigate, place, setQuery } from './router.js';
import { can } from './session.js';
import { clearFilters, narrowed, parametersOf, viewLink } from './table-state.js';
import { attempt } from './ui.js';

/** @typedef {import('./tables.js').Filter} Filter */
/** @typedef {import('./tables.js').Description} Description */

/** @param {string} name */
export const filterLabel = (name) => maybe(`filter.${name}`) ?? maybe(`field.${name}`) ?? name;

/**
 * @param {{ table: Description, columns: { key: string, text: string }[], chosen: ReturnType<typeof import('./table-state.js').useColumns>,
 *   views: ReturnType<typeof import('./table-state.js').useViews>, keep: string[], busy: boolean, extra?: any }} props
 */
export function Filters({ table, columns, chosen, views, keep, busy, extra }) {
  const { path, query } = place.use();
  const [text, setText] = useState(query.get('q') ?? '');
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const id = useId('filter');
  const written = useRef(query.get('q') ?? '');
  useEffect(() => {
    const now = query.get('q') ?? '';
    if (now !== written.current) setText(now);
    written.current = now;
  }, [query.get('q')]);
  const type = (/** @type {string} */ value) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      written.current = value.trim();
      setQuery({ q: value.trim(), page: null });
    }, 180);
  };
  const usable = table.filters.filter((filter) => !keep.includes(filter.name) && (!filter.needs || can(filter.needs)));
  const active = usable.filter((filter) => parametersOf(filter).some((name) => query.has(name)));
  const edit = (/** @type {Filter} */ filter) => open((close) => html`<${FilterDialog} filter=${filter} close=${() => close(null)} />`);
  const saveView = async () => {
    const name = await open((/** @type {(name: string | null) => void} */ close) => html`<${NameDialog} close=${close} />`);
    if (name) views.save(name);
  };
  const dropView = async (/** @type {string} */ name) => {
    if (await confirm({ title: t('table.viewDrop'), text: name, confirm: t('delete'), danger: true })) views.drop(name);
  };
  return html`<div class="filters">
    ${table.search && html`<div class="search-field">
      <${Icon} name="search" size=${16} />
      <input id=${id} type="search" data-filter aria-label=${t('table.search')} placeholder=${maybe(`search.${table.root}`) ?? t('table.search')}
        value=${text} onInput=${(/** @type {any} */ e) => type(e.target.value)}
        onKeyDown=${(/** @type {KeyboardEvent} */ e) => { if (e.key === 'ArrowDown' || e.key === 'Enter') focusRow(); }} />
      ${busy && text && html`<span class="spinner" />`}
    </div>`}
    ${active.map((filter) => html`<span class="chip" key=${filter.name}>
      <button type="button" onClick=${() => edit(filter)}>${filterLabel(filter.name)}: <b><${Chosen} filter=${filter} query=${query} /></b></button>
      <button type="button" aria-label=${t('table.filterDrop', { name: filterLabel(filter.name) })}
        onClick=${() => setQuery(Object.fromEntries([...parametersOf(filter), 'page'].map((name) => [name, null])), { push: true })}><${Icon} name="close" size=${12} /></button>
    </span>`)}
    <${Menu} text label=${t('table.filter')} icon="filter" items=${usable.filter((filter) => !active.includes(filter)).map((filter) => ({
      label: filterLabel(filter.name), run: () => void edit(filter),
    }))} />
    ${narrowed(table, query, keep) && html`<button type="button" class="link" onClick=${() => clearFilters(table, keep)}>${t('table.clear')}</button>`}
    <span class="grow" />
    ${extra}
    <${Menu} label=${t('table.views')} icon="views" items=${[
      ...views.views.map((view) => ({ label: view.name, icon: 'views', run: () => void navigate(`${path}?${view.search}`) })),
      { label: t('table.viewSave'), icon: 'plus', run: () => void saveView() },
      { label: t('table.viewCopy'), icon: 'link', run: () => void attempt(() => navigator.clipboard.writeText(viewLink()), t('copied')) },
      ...views.views.map((view) => ({ label: t('table.viewDropNamed', { name: view.name }), icon: 'trash', run: () => void dropView(view.name) })),
    ]} />
    <${Menu} label=${t('table.columns')} icon="columns" items=${columns.map((column) => ({
      label: column.text, checked: !chosen.hidden.includes(column.key), run: () => chosen.toggle(column.key),
    }))} />
  </div>`;
}

/** Moves the focus to the current row of the table. */
export function focusRow() {
  const row = document.querySelector('[role=grid] tbody tr[tabindex="0"]');
  if (row instanceof HTMLElement) row.focus();
}

/** The chosen value in words. @param {{ filter: Filter, query: URLSearchParams }} props */
function Chosen({ filter, query }) {
  const loaded = useLoad(async () => (filter.options ? filter.options() : []), [filter.name]);
  if (filter.kind === 'choice') {
    return query.getAll(filter.name).map((value) => loaded.data?.find((option) => String(option.value) === value)?.label ?? value).join(', ');
  }
  if (filter.kind === 'flag') return t(query.get(filter.name) === 'true' ? 'yes' : 'no');
  const [from, to] = parametersOf(filter).map((name) => query.get(name ?? '') ?? '');
  if (filter.kind === 'dates') return `${from || '…'} – ${to || '…'}`;
  return [from && `> ${from}`, to && `< ${to}`].filter(Boolean).join(' ');
}

/** @param {{ filter: Filter, close: () => void }} props */
function FilterDialog({ filter, close }) {
  const query = place.get().query;
  const names = parametersOf(filter);
  const [values, setValues] = useState(() => Object.fromEntries(names.map((name) => [name, query.getAll(name)])));
  const loaded = useLoad(async () => (filter.options ? filter.options() : []), [filter.name]);
  const id = useId('choice');
  const set = (/** @type {string} */ name, /** @type {string[]} */ next) => setValues({ ...values, [name]: next });
  const apply = (/** @type {Event} */ event) => {
    event.preventDefault();
    setQuery({ ...values, page: null }, { push: true });
    close();
  };
  const inputs = filter.kind === 'choice'
    ? html`<div class="choices" role="group" aria-label=${filterLabel(filter.name)}>${(loaded.data ?? []).map((option) => {
      const value = String(option.value);
      const chosen = values[filter.name] ?? [];
      return html`<label class="check" key=${value}><input type=${filter.single ? 'radio' : 'checkbox'} name=${id} checked=${chosen.includes(value)}
        onChange=${() => set(filter.name, filter.single ? [value] : chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value])} /> ${option.label}</label>`;
    })}${loaded.data?.length === 0 && html`<p class="note">${t('table.noOptions')}</p>`}</div>`
    : filter.kind === 'flag'
      ? html`<div class="choices" role="radiogroup" aria-label=${filterLabel(filter.name)}>${['true', 'false'].map((value) => html`<label class="check" key=${value}>
        <input type="radio" name=${id} checked=${values[filter.name]?.[0] === value} onChange=${() => set(filter.name, [value])} /> ${t(value === 'true' ? 'yes' : 'no')}</label>`)}</div>`
      : html`<div class="row">${names.map((name, index) => html`<div class="field" key=${name}>
        <label for=${`${id}-${name}`}>${t(filter.kind === 'dates' ? ['table.from', 'table.to'][index] ?? '' : ['table.more', 'table.less'][index] ?? '')}</label>
        <input id=${`${id}-${name}`} type=${filter.kind === 'dates' ? 'date' : 'number'} step="any" value=${values[name]?.[0] ?? ''}
          onInput=${(/** @type {any} */ e) => set(name, e.target.value ? [e.target.value] : [])} />
      </div>`)}</div>`;
  return html`<${Dialog} title=${filterLabel(filter.name)} onClose=${close}>
    <form id=${`${id}-form`} onSubmit=${apply}>${inputs}
      <div class="dialog-foot inline">
        <button type="button" class="button" onClick=${close}>${t('cancel')}</button>
        <button class="button primary">${t('apply')}</button>
      </div>
    </form>
  <//>`;
}

/** Asks for the name of a view. @param {{ close: (name: string | null) => void }} props */
function NameDialog({ close }) {
  const [name, setName] = useState('');
  const id = useId('name');
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    close(name.trim() || null);
  };
  return html`<${Dialog} title=${t('table.viewSave')} onClose=${() => close(null)}>
    <form onSubmit=${submit}>
      <div class="field"><label for=${id}>${t('table.viewName')}</label>
        <input id=${id} required maxlength="60" autofocus value=${name} onInput=${(/** @type {any} */ e) => setName(e.target.value)} /></div>
      <div class="dialog-foot inline">
        <button type="button" class="button" onClick=${() => close(null)}>${t('cancel')}</button>
        <button class="button primary">${t('save')}</button>
      </div>
    </form>
  <//>`;
}
