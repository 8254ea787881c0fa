// @ts-check
// Entry: loads the texts and draws the interface.
import { html, render } from './lib/html.js';
import { loadTexts } from './lib/i18n.js';
import { listenToKeys } from './lib/keys.js';
import { follow } from './lib/router.js';
import { App } from './lib/shell.js';

/**
 * Shows that the console could not begin. The dictionaries may be missing here, so both languages are on the page.
 * @param {unknown} error
 */
function failed(error) {
  console.error(error);
  const text = document.createElement('p');
  text.setAttribute('role', 'alert');
  text.className = 'boot-error';
  text.textContent = 'Консоль не загрузилась. Обновите страницу. · The console did not load. Reload the page.';
  document.getElementById('app')?.replaceChildren(text);
}

try {
  const host = document.getElementById('app');
  await loadTexts(['shell']);
  listenToKeys();
  follow();
  if (host) render(html`<${App} />`, host);
} catch (error) {
  failed(error);
}
