// @ts-check
// Dialogs and toasts. A dialog is the browser's own: it traps the focus, closes with Escape and returns the focus.
import { cx, html, render, store, useEffect, useId, useRef, useState } from './html.js';
import { t } from './i18n.js';
import { Icon } from './icons.js';

/**
 * @param {{ title: string, onClose: () => void, children?: any, actions?: any, wide?: boolean, locked?: boolean,
 *   class?: string, bare?: boolean }} props
 */
export function Dialog({ title, onClose, children, actions, wide, locked, bare, class: className }) {
  const ref = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const heading = useId('dialog');
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    const first = dialog?.querySelector('[autofocus]') ?? dialog?.querySelector('.dialog-body :is(input, select, textarea, button):not([disabled])');
    if (first instanceof HTMLElement) first.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      else focusMain();
    };
  }, []);
  return html`<dialog ref=${ref} class=${cx('dialog', wide && 'wide', className)} aria-labelledby=${heading}
    onCancel=${(/** @type {Event} */ event) => { event.preventDefault(); if (!locked) onClose(); }}
    onMouseDown=${(/** @type {MouseEvent} */ event) => event.target === ref.current && !locked && onClose()}>
    <div class="dialog-frame">
      <header class=${cx('dialog-head', bare && 'sr-only')}>
        <h2 id=${heading}>${title}</h2>
        ${!locked && html`<button type="button" class="icon-button" aria-label=${t('close')} onClick=${onClose}><${Icon} name="close" /></button>`}
      </header>
      <div class="dialog-body">${children}</div>
      ${actions && html`<footer class="dialog-foot">${actions}</footer>`}
    </div>
  </dialog>`;
}

/** Moves the focus to the heading of the screen. */
export function focusMain() {
  const main = document.querySelector('main h1') ?? document.querySelector('main');
  if (main instanceof HTMLElement) main.focus({ preventScroll: true });
}

/**
 * Shows a dialog outside of the screen, and resolves with its result. `content` gets the function that closes it.
 * @template T
 * @param {(close: (result: T) => void) => any} content
 * @returns {Promise<T>}
 */
export function open(content) {
  const host = document.createElement('div');
  document.body.append(host);
  return new Promise((resolve) => {
    const close = (/** @type {T} */ result) => {
      render(null, host);
      host.remove();
      resolve(result);
    };
    render(content(close), host);
  });
}

/**
 * Asks before something that cannot be undone.
 * @param {{ title: string, text?: string, confirm: string, danger?: boolean }} question
 * @returns {Promise<boolean>}
 */
export function confirm({ title, text, confirm: label, danger }) {
  return open((close) => html`<${Dialog} title=${title} onClose=${() => close(false)} actions=${html`
      <button type="button" class="button" onClick=${() => close(false)}>${t('cancel')}</button>
      <button type="button" autofocus class=${cx('button', danger ? 'danger' : 'primary')} onClick=${() => close(true)}>${label}</button>`}>
    <p>${text ?? ''}</p>
  <//>`);
}

/** @typedef {{ id: number, text: string, kind: 'done' | 'error' | 'info', action?: { label: string, run: () => void } }} Toast */
const toasts = store(/** @type {Toast[]} */ ([]));
let lastToast = 0;

/** Shows a message. Errors stay until they are closed. @param {string} text @param {Partial<Toast>} [more] */
export function toast(text, more = {}) {
  const id = ++lastToast;
  toasts.set([...toasts.get().slice(-3), { id, text, kind: 'done', ...more }]);
  if (more.kind !== 'error') setTimeout(() => dismiss(id), more.action ? 10000 : 5000);
  return id;
}

/** @param {number} id */
const dismiss = (id) => toasts.set(toasts.get().filter((toast) => toast.id !== id));

/** The place of the toasts. */
export function Toasts() {
  const shown = toasts.use();
  return html`<div class="toasts" role="status" aria-live="polite">
    ${shown.map((toast) => html`<div key=${toast.id} class=${cx('toast', toast.kind)}>
      <${Icon} name=${toast.kind === 'error' ? 'alert' : toast.kind === 'info' ? 'info' : 'check'} />
      <span>${toast.text}</span>
      ${toast.action && html`<button type="button" class="link" onClick=${() => { dismiss(toast.id); toast.action?.run(); }}>${toast.action.label}</button>`}
      <button type="button" class="icon-button" aria-label=${t('close')} onClick=${() => dismiss(toast.id)}><${Icon} name="close" size=${14} /></button>
    </div>`)}
  </div>`;
}

/**
 * A button with a menu. Arrow keys move, Escape closes and returns to the button.
 * @param {{ label: string, icon?: string, text?: boolean, class?: string,
 *   items: ({ label: string, icon?: string, run: () => void, danger?: boolean, checked?: boolean } | null)[] }} props
 */
export function Menu({ label, icon = 'more', text, items, class: className }) {
  const [shown, setShown] = useState(false);
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  const id = useId('menu');
  const offered = items.filter((item) => item !== null);
  useEffect(() => {
    if (!shown) return;
    const first = host.current?.querySelector('[role^=menuitem]');
    if (first instanceof HTMLElement) first.focus();
    const away = (/** @type {Event} */ event) => {
      if (event.target instanceof Node && !host.current?.contains(event.target)) setShown(false);
    };
    document.addEventListener('pointerdown', away);
    return () => document.removeEventListener('pointerdown', away);
  }, [shown]);
  const close = () => {
    setShown(false);
    host.current?.querySelector('button')?.focus();
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (!shown) return;
    const all = /** @type {HTMLElement[]} */ ([...host.current?.querySelectorAll('[role^=menuitem]') ?? []]);
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === 'Escape' || event.key === 'Tab') close();
    else if (to === undefined) return;
    else all[to % all.length]?.focus();
    if (event.key !== 'Tab') event.preventDefault();
    event.stopPropagation();
  };
  if (offered.length === 0) return null;
  return html`<span class="menu" ref=${host} onKeyDown=${keys}>
    <button type="button" class=${className ?? (text ? 'button' : 'icon-button')} aria-haspopup="menu" aria-expanded=${shown}
      aria-controls=${id} aria-label=${text ? undefined : label} title=${text ? undefined : label}
      onClick=${() => setShown(!shown)}><${Icon} name=${icon} />${text && html`<span>${label}</span>`}</button>
    <span id=${id} role="menu" aria-label=${label} class="menu-list" hidden=${!shown}>
      ${shown && offered.map((item) => html`<button type="button" key=${item.label} tabindex="-1"
        role=${item.checked === undefined ? 'menuitem' : 'menuitemcheckbox'} aria-checked=${item.checked}
        class=${cx('menu-item', item.danger && 'danger')}
        onClick=${() => { if (item.checked === undefined) close(); item.run(); }}>
        <${Icon} name=${item.checked === undefined ? item.icon ?? 'chevron' : item.checked ? 'check' : 'blank'} size=${16} /><span>${item.label}</span>
      </button>`)}
    </span>
  </span>`;
}
