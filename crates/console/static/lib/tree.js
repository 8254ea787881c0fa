// @ts-check
// A tree of records: moved by dragging or by keys (ARIA pattern: tree view). The screen writes the moves.
import { toast } from './dialog.js';
import { cx, html, useEffect, useRef, useState } from './html.js';
import { t } from './i18n.js';
import { Icon } from './icons.js';
import { attempt } from './ui.js';

/** @typedef {{ id: number, name: string, parent: number | null, note?: any }} Node in the order of the siblings */
/** @typedef {{ node: Node, level: number, children: Node[], position: number, siblings: Node[] }} Row */

/** The shown rows of the tree, from the top. @param {Node[]} all @param {Set<number>} closed @returns {Row[]} */
function rowsOf(all, closed) {
  /** @type {Map<number | null, Node[]>} */
  const children = new Map();
  for (const node of all) children.set(node.parent, [...children.get(node.parent) ?? [], node]);
  /** @type {Row[]} */
  const rows = [];
  const walk = (/** @type {number | null} */ parent, /** @type {number} */ level) => {
    const siblings = children.get(parent) ?? [];
    for (const [index, node] of siblings.entries()) {
      rows.push({ node, level, children: children.get(node.id) ?? [], position: index + 1, siblings });
      if (!closed.has(node.id)) walk(node.id, level + 1);
    }
  };
  walk(null, 1);
  return rows;
}

/** `true` if `id` is `root` or below it. @param {Node[]} all @param {number} id @param {number} root */
export function within(all, id, root) {
  for (let at = all.find((one) => one.id === id); at; at = all.find((one) => one.id === at?.parent)) if (at.id === root) return true;
  return false;
}

/** The nodes that may be the parent of a node, as options of a form. @param {Node[]} all @param {number | null} id @returns {import('./tables.js').Option[]} */
export const parentsFor = (all, id) => all.filter((one) => id === null || !within(all, one.id, id)).map((one) => ({ value: one.id, label: one.name }));

/**
 * @param {object} props
 * @param {Node[]} props.nodes
 * @param {string} props.label
 * @param {boolean} props.edits
 * @param {(node: Node) => void} props.open
 * @param {(id: number, parent: number | null) => Promise<unknown>} props.place writes a new parent
 * @param {(id: number, step: 'up' | 'down') => Promise<unknown>} [props.shift] moves a node among its siblings
 * @param {() => void} props.refresh
 */
export function Tree({ nodes, label, edits, open, place, shift, refresh }) {
  const [closed, setClosed] = useState(/** @type {Set<number>} */ (new Set()));
  const [at, setAt] = useState(/** @type {number | null} */ (null));
  const [dragged, setDragged] = useState(/** @type {number | null} */ (null));
  const [target, setTarget] = useState(/** @type {number | 'top' | null} */ (null));
  /** `true` if the current row takes the focus when the rows are drawn again. */
  const moved = useRef(false);
  const tree = useRef(/** @type {HTMLElement | null} */ (null));
  const rows = rowsOf(nodes, closed);
  const current = rows.find((row) => row.node.id === at) ?? rows[0];
  const move = async (/** @type {Node | undefined} */ node, /** @type {number | null} */ parent) => {
    if (!node || node.parent === parent || (parent !== null && within(nodes, parent, node.id))) return;
    const before = node.parent;
    if (await attempt(() => place(node.id, parent))) {
      toast(t('tree.moved', { name: node.name }), { action: { label: t('undo'), run: () => void attempt(() => place(node.id, before)).then(refresh) } });
    }
    refresh();
  };
  const step = (/** @type {Node} */ node, /** @type {'up' | 'down'} */ way) => {
    setAt(node.id);
    void attempt(async () => shift?.(node.id, way)).then(() => { moved.current = true; refresh(); });
  };
  const toggle = (/** @type {number} */ id, /** @type {boolean} */ close) => {
    const next = new Set(closed);
    if (close) next.add(id);
    else next.delete(id);
    setClosed(next);
  };
  const focus = (/** @type {Row | undefined} */ row) => row && setAt(row.node.id);
  useEffect(() => {
    const row = tree.current?.querySelector('[tabindex="0"]');
    if (moved.current && row instanceof HTMLElement) row.focus();
    moved.current = false;
  }, [at, rows.map((row) => row.node.id).join()]);
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (!current || event.ctrlKey || event.metaKey) return;
    const index = rows.indexOf(current);
    const { node } = current;
    moved.current = true;
    if (event.altKey && edits) {
      const above = current.siblings[current.position - 2];
      if (event.key === 'ArrowRight' && above) void move(node, above.id);
      else if (event.key === 'ArrowLeft' && node.parent !== null) void move(node, nodes.find((one) => one.id === node.parent)?.parent ?? null);
      else if (shift && event.key === 'ArrowUp') step(node, 'up');
      else if (shift && event.key === 'ArrowDown') step(node, 'down');
      else return;
    } else if (event.key === 'ArrowDown') focus(rows[index + 1]);
    else if (event.key === 'ArrowUp') focus(rows[index - 1]);
    else if (event.key === 'Home') focus(rows[0]);
    else if (event.key === 'End') focus(rows.at(-1));
    else if (event.key === 'ArrowRight' && current.children.length) {
      if (closed.has(node.id)) toggle(node.id, false);
      else focus(rows[index + 1]);
    } else if (event.key === 'ArrowLeft') {
      if (current.children.length && !closed.has(node.id)) toggle(node.id, true);
      else focus(rows.find((row) => row.node.id === node.parent));
    } else if (event.key === 'Enter' && edits && event.target instanceof Element && event.target.matches('[role=treeitem]')) open(node);
    else return;
    event.preventDefault();
  };
  const drop = (/** @type {DragEvent} */ event, /** @type {number | null} */ parent) => {
    event.preventDefault();
    void move(nodes.find((one) => one.id === dragged), parent);
    setDragged(null);
    setTarget(null);
  };
  const over = (/** @type {DragEvent} */ event, /** @type {number | 'top'} */ to) => {
    if (dragged === null || (to !== 'top' && within(nodes, to, dragged))) return;
    event.preventDefault();
    setTarget(to);
  };
  return html`${dragged !== null && html`<div class=${cx('drop', target === 'top' && 'over')} onDragOver=${(/** @type {DragEvent} */ e) => over(e, 'top')} onDrop=${(/** @type {DragEvent} */ e) => drop(e, null)}>${t('tree.top')}</div>`}
    <div role="tree" class="tree" ref=${tree} aria-label=${label} onKeyDown=${keys}>
      ${rows.map((row) => html`<div key=${row.node.id} role="treeitem" class=${cx('tree-row', target === row.node.id && 'target')} tabindex=${row === current ? 0 : -1}
        aria-level=${row.level} aria-posinset=${row.position} aria-setsize=${row.siblings.length} aria-selected=${row === current}
        aria-expanded=${row.children.length ? !closed.has(row.node.id) : undefined} style=${{ paddingLeft: `${12 + (row.level - 1) * 24}px` }}
        draggable=${edits} onDragStart=${() => setDragged(row.node.id)} onDragEnd=${() => { setDragged(null); setTarget(null); }}
        onDragOver=${(/** @type {DragEvent} */ e) => over(e, row.node.id)} onDrop=${(/** @type {DragEvent} */ e) => drop(e, row.node.id)}
        onFocus=${() => setAt(row.node.id)} onClick=${() => (edits ? open(row.node) : row.children.length && toggle(row.node.id, !closed.has(row.node.id)))}>
        <span onClick=${(/** @type {Event} */ e) => { e.stopPropagation(); toggle(row.node.id, !closed.has(row.node.id)); }}>
          <${Icon} name=${row.children.length ? (closed.has(row.node.id) ? 'chevron' : 'down') : 'blank'} size=${16} /></span>
        <span class="ellipsis">${row.node.name}</span><span class="faint">${row.node.note}</span>
        ${edits && shift && html`<span class="grow" />${/** @type {const} */ (['up', 'down']).map((way) => html`<button type="button" key=${way} class="icon-button" tabindex="-1"
          aria-label=${`${t(`tree.${way}`)}: ${row.node.name}`} disabled=${row.position === (way === 'up' ? 1 : row.siblings.length)}
          onClick=${(/** @type {Event} */ e) => { e.stopPropagation(); step(row.node, way); }}><${Icon} name=${way} size=${14} /></button>`)}`}
      </div>`)}
    </div>`;
}
