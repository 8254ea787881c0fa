// @ts-check
// Categories as a tree: moved by dragging or by keys, edited in a dialog.
import { get, post, put } from '../lib/api.js';
import { Dialog, open, toast } from '../lib/dialog.js';
import { RecordForm } from '../lib/form.js';
import { cx, html, useEffect, useRef, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { forget, useLoad } from '../lib/load.js';
import { can } from '../lib/session.js';
import { attempt, Empty, Failure, Page, Skeleton } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/categories', 'get'>['categories'][number]} Category */
/** @typedef {{ category: Category, level: number, children: Category[], position: number, siblings: number }} Row */

/** @param {Category[]} all */
function childrenOf(all) {
  /** @type {Map<number | null, Category[]>} */
  const children = new Map();
  for (const category of all) {
    const parent = category.parent?.id ?? null;
    children.set(parent, [...children.get(parent) ?? [], category]);
  }
  return children;
}

/** The shown rows of the tree, from the top. @param {Category[]} all @param {Set<number>} closed @returns {Row[]} */
function rowsOf(all, closed) {
  const children = childrenOf(all);
  /** @type {Row[]} */
  const rows = [];
  const walk = (/** @type {number | null} */ parent, /** @type {number} */ level) => {
    const list = children.get(parent) ?? [];
    for (const [index, category] of list.entries()) {
      rows.push({ category, level, children: children.get(category.id) ?? [], position: index + 1, siblings: list.length });
      if (!closed.has(category.id)) walk(category.id, level + 1);
    }
  };
  walk(null, 1);
  return rows;
}

/** `true` if `id` is `root` or below it. @param {Category[]} all @param {number} id @param {number} root */
function within(all, id, root) {
  for (let at = all.find((one) => one.id === id); at; at = all.find((one) => one.id === at?.parent?.id)) if (at.id === root) return true;
  return false;
}

export default function Categories() {
  const loaded = useLoad((signal) => get('/api/categories', {}, { signal }), []);
  const [closed, setClosed] = useState(/** @type {Set<number>} */ (new Set()));
  const [at, setAt] = useState(/** @type {number | null} */ (null));
  const [dragged, setDragged] = useState(/** @type {number | null} */ (null));
  const [target, setTarget] = useState(/** @type {number | 'top' | null} */ (null));
  const tree = useRef(/** @type {HTMLElement | null} */ (null));
  const all = loaded.data?.categories ?? [];
  const rows = rowsOf(all, closed);
  const current = rows.find((row) => row.category.id === at) ?? rows[0];
  const edits = can('edit-categories');
  const refresh = () => {
    forget('/api/categories');
    loaded.reload();
  };
  const edit = async (/** @type {Category | null} */ category, /** @type {number | null} */ parent = null) => {
    if (await open((/** @type {(done: boolean) => void} */ close) => html`<${CategoryDialog} category=${category} parent=${parent} all=${all} close=${close} />`)) refresh();
  };
  const place = (/** @type {number} */ id, /** @type {number | null} */ parent) => put('/api/categories/{id}', { id }, { parent_id: parent });
  const move = async (/** @type {Category | undefined} */ category, /** @type {number | null} */ parent) => {
    if (!category || (category.parent?.id ?? null) === parent || (parent !== null && within(all, parent, category.id))) return;
    const before = category.parent?.id ?? null;
    if (await attempt(() => place(category.id, parent))) {
      toast(t('category.moved', { name: category.name }), { action: { label: t('undo'), run: () => void attempt(() => place(category.id, before)).then(refresh) } });
    }
    refresh();
  };
  const toggle = (/** @type {number} */ id, /** @type {boolean} */ close) => {
    const next = new Set(closed);
    if (close) next.add(id);
    else next.delete(id);
    setClosed(next);
  };
  const focus = (/** @type {Row | undefined} */ row) => row && setAt(row.category.id);
  const moved = useRef(false);
  useEffect(() => {
    const row = tree.current?.querySelector('[tabindex="0"]');
    if (moved.current && row instanceof HTMLElement) row.focus();
    moved.current = false;
  }, [at]);
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (!current || event.ctrlKey || event.metaKey) return;
    const index = rows.indexOf(current);
    const { category } = current;
    moved.current = true;
    if (event.altKey && edits) {
      const above = rows.slice(0, index).reverse().find((row) => row.level === current.level && (row.category.parent?.id ?? null) === (category.parent?.id ?? null));
      const parent = all.find((one) => one.id === category.parent?.id);
      if (event.key === 'ArrowRight' && above) void move(category, above.category.id);
      else if (event.key === 'ArrowLeft' && category.parent) void move(category, parent?.parent?.id ?? null);
      else return;
    } else if (event.key === 'ArrowDown') focus(rows[index + 1]);
    else if (event.key === 'ArrowUp') focus(rows[index - 1]);
    else if (event.key === 'Home') focus(rows[0]);
    else if (event.key === 'End') focus(rows.at(-1));
    else if (event.key === 'ArrowRight' && current.children.length) {
      if (closed.has(category.id)) toggle(category.id, false);
      else focus(rows[index + 1]);
    } else if (event.key === 'ArrowLeft') {
      if (current.children.length && !closed.has(category.id)) toggle(category.id, true);
      else focus(rows.find((row) => row.category.id === category.parent?.id));
    } else if (event.key === 'Enter' && edits) void edit(category);
    else return;
    event.preventDefault();
  };
  const drop = (/** @type {DragEvent} */ event, /** @type {number | null} */ parent) => {
    event.preventDefault();
    void move(all.find((one) => one.id === dragged), parent);
    setDragged(null);
    setTarget(null);
  };
  const over = (/** @type {DragEvent} */ event, /** @type {number | 'top'} */ to) => {
    if (dragged === null || (to !== 'top' && within(all, to, dragged))) return;
    event.preventDefault();
    setTarget(to);
  };
  useActions(can('create-categories') ? [{ id: 'category-new', label: t('category.new'), icon: 'plus', keys: 'n', run: () => void edit(null) }] : []);
  return html`<${Page} title=${t('nav.categories')} note=${edits && t('category.note')} actions=${can('create-categories') && html`
      <button type="button" class="button primary" onClick=${() => edit(null)}><${Icon} name="plus" size=${16} />${t('category.new')}</button>`} />
    <section class="table-frame">
      ${loaded.error && html`<${Failure} error=${loaded.error} retry=${loaded.reload} />`}
      ${!loaded.data && !loaded.error && html`<${Skeleton} />`}
      ${loaded.data && all.length === 0 && html`<${Empty} icon="tree" title=${t('category.none')} text=${t('category.noneText')} />`}
      ${dragged !== null && html`<div class=${cx('drop', target === 'top' && 'over')} onDragOver=${(/** @type {DragEvent} */ e) => over(e, 'top')} onDrop=${(/** @type {DragEvent} */ e) => drop(e, null)}>${t('category.top')}</div>`}
      ${rows.length > 0 && html`<div role="tree" class="tree" ref=${tree} aria-label=${t('nav.categories')} onKeyDown=${keys}>
        ${rows.map((row) => html`<div key=${row.category.id} role="treeitem" class=${cx('tree-row', target === row.category.id && 'target')} tabindex=${row === current ? 0 : -1}
          aria-level=${row.level} aria-posinset=${row.position} aria-setsize=${row.siblings} aria-selected=${row === current}
          aria-expanded=${row.children.length ? !closed.has(row.category.id) : undefined} style=${{ paddingLeft: `${12 + (row.level - 1) * 24}px` }}
          draggable=${edits} onDragStart=${() => setDragged(row.category.id)} onDragEnd=${() => { setDragged(null); setTarget(null); }}
          onDragOver=${(/** @type {DragEvent} */ e) => over(e, row.category.id)} onDrop=${(/** @type {DragEvent} */ e) => drop(e, row.category.id)}
          onFocus=${() => setAt(row.category.id)} onClick=${() => (row.children.length && !edits ? toggle(row.category.id, !closed.has(row.category.id)) : edits && edit(row.category))}>
          <span onClick=${(/** @type {Event} */ e) => { e.stopPropagation(); toggle(row.category.id, !closed.has(row.category.id)); }}>
            <${Icon} name=${row.children.length ? (closed.has(row.category.id) ? 'chevron' : 'down') : 'blank'} size=${16} /></span>
          <span class="ellipsis">${row.category.name}</span><span class="faint">${row.category.code}</span>
        </div>`)}
      </div>`}
    </section>`;
}

/** @param {{ category: Category | null, parent: number | null, all: Category[], close: (done: boolean) => void }} props */
function CategoryDialog({ category, parent, all, close }) {
  /** @type {import('../lib/form.js').FieldSpec[]} */
  const fields = [
    { name: 'name', kind: 'text', required: true, max: 255, wide: true },
    { name: 'parent_id', kind: 'choice', options: async () => all.filter((one) => !category || !within(all, one.id, category.id)).map((one) => ({ value: one.id, label: one.name })) },
    { name: 'code', kind: 'number' },
    { name: 'description', kind: 'area', max: 65535 },
  ];
  const record = useRef({ ...(category ?? { name: null, code: null, description: null }), parent_id: category?.parent?.id ?? parent }).current;
  // One category has no GET of its own; the row of the table has its version.
  const versionOf = async (/** @type {AbortSignal} */ signal) => {
    if (!category) return null;
    const answer = /** @type {any} */ (await get('/api/tables/categories', { query: category.name, per_page: 100 }, { signal }));
    const row = answer.categories.find((/** @type {any} */ one) => Number(one.id?.value ?? one.id) === category.id);
    return row ? `"${row.version}"` : null;
  };
  const version = useLoad(versionOf, [category?.id]);
  const save = async (/** @type {Record<string, any>} */ changes, /** @type {any} */ _values, /** @type {string | undefined} */ match) => {
    if (category) await put('/api/categories/{id}', { id: category.id }, changes, match ? { match } : {});
    else await post('/api/categories', {}, Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)));
    toast(t(category ? 'saved' : 'created'));
    close(true);
  };
  const reread = async () => {
    const found = (await get('/api/categories')).categories.find((one) => one.id === category?.id);
    return { record: { ...found, parent_id: found?.parent?.id ?? null }, etag: await versionOf(new AbortController().signal) };
  };
  return html`<${Dialog} title=${category?.name ?? t('category.new')} onClose=${() => close(false)}>
    ${category && version.loading ? html`<${Skeleton} lines=${3} />`
      : html`<${RecordForm} fields=${fields} record=${record} etag=${category ? version.data ?? '' : null} save=${save} reread=${reread} submit=${t(category ? 'save' : 'create')} cancel=${() => close(false)} />`}
  <//>`;
}
