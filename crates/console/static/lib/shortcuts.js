// @ts-check
// The list of shortcuts that work on the current screen, and the switch for single keys.
import { Dialog } from './dialog.js';
import { html } from './html.js';
import { t } from './i18n.js';
import { currentActions, keysLabel, setSingleKeys, singleKeys } from './keys.js';

/** Keys of lists, which the table handles itself. */
const LIST_KEYS = /** @type {[string, string][]} */ ([
  ['J ↓', 'shortcuts.next'], ['K ↑', 'shortcuts.previous'], ['Enter', 'shortcuts.open'], ['X', 'shortcuts.select'],
  ['Ctrl+A', 'shortcuts.selectPage'], ['/', 'shortcuts.filter'], ['[ ]', 'shortcuts.pages'],
]);

/** @param {{ close: () => void }} props */
export function Shortcuts({ close }) {
  const on = singleKeys.use();
  const actions = currentActions().filter((action) => action.keys);
  const seen = new Set();
  const listed = actions.filter((action) => {
    const fresh = !seen.has(action.keys);
    seen.add(action.keys);
    return fresh;
  });
  return html`<${Dialog} title=${t('shortcuts.title')} class="help" wide onClose=${close}>
    <label class="check"><input type="checkbox" checked=${on} onChange=${() => setSingleKeys(!on)} /> ${t('shortcuts.single')}</label>
    <p class="note">${t('shortcuts.singleNote')}</p>
    <dl class="keys">
      ${listed.map((action) => html`<div key=${action.keys}><dt>${action.label}</dt><dd><kbd>${keysLabel(action.keys ?? '')}</kbd></dd></div>`)}
      ${LIST_KEYS.map(([keys, label]) => html`<div key=${keys}><dt>${t(label)}</dt><dd><kbd>${keys}</kbd></dd></div>`)}
    </dl>
  <//>`;
}
