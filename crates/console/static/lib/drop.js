// @ts-check
// A place to drop files. It is a button and an action of the palette too, so the keyboard and phones choose files as well.
import { post } from './api.js';
import { cx, html, useId, useRef, useState } from './html.js';
import { t } from './i18n.js';
import { Icon } from './icons.js';
import { useActions } from './keys.js';

/** Number of the file type for public pictures. */
export const PICTURE = 2;

/** Uploads a file. @param {File} file @param {number} [type] */
export async function upload(file, type = PICTURE) {
  const form = new FormData();
  form.append('file_type_id', String(type));
  form.append('file', file);
  return (await post('/api/files', {}, form)).file;
}

/** @param {{ label: string, onFiles: (files: File[]) => void, accept?: string, single?: boolean }} props */
export function Drop({ label, onFiles, accept, single }) {
  const [over, setOver] = useState(false);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const id = useId('drop');
  const choose = () => input.current?.click();
  useActions([{ id, label, icon: 'file', run: choose }]);
  const take = (/** @type {FileList | null | undefined} */ list) => {
    const files = [...list ?? []];
    if (files.length) onFiles(single ? files.slice(0, 1) : files);
  };
  const drop = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer?.files);
  };
  const drag = (/** @type {DragEvent} */ event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    setOver(true);
  };
  return html`<div onDragOver=${drag} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    <button type="button" class=${cx('drop', over && 'over')} aria-describedby=${`${id}-hint`} onClick=${choose}>
      <${Icon} name="plus" /><span>${label}</span><span class="faint" id=${`${id}-hint`}>${t('drop.hint')}</span>
    </button>
    <input ref=${input} type="file" class="sr-only" tabindex="-1" aria-label=${label} accept=${accept} multiple=${!single}
      onChange=${(/** @type {any} */ event) => { take(event.target.files); event.target.value = ''; }} />
  </div>`;
}
