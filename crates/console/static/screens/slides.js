// @ts-check
// Slides of an application, in the order in which customers see them.
import { get, post, put, read, remove } from '../lib/api.js';
import { dateTime } from '../lib/format.js';
import { HistoryButton } from '../lib/history.js';
import { html, useEffect, useRef } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { everything, useLoad } from '../lib/load.js';
import { Applications, editRecord } from '../lib/record.js';
import { can } from '../lib/session.js';
import { attempt, Badge, Card, Empty, Loading, Page, Picture } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/applications/{id}/slides', 'get'>['slides'][number]} Slide */

/** @param {number} application @returns {import('../lib/record.js').Resource} */
const resource = (application) => ({
  title: 'slide.new',
  fields: [
    { name: 'title', kind: 'text', required: true, max: 255, wide: true },
    { name: 'description', kind: 'html', max: 65535 },
    { name: 'photo', kind: 'picture' },
    { name: 'link', kind: 'text', max: 500, wide: true, hint: 'slide.linkHint' },
    { name: 'starts_at', kind: 'datetime' },
    { name: 'ends_at', kind: 'datetime' },
    { name: 'is_active', kind: 'check' },
  ],
  empty: { is_active: true },
  async read(slide_id, settings) {
    const { body: { slide }, etag } = await read('/api/applications/{id}/slides/{slide_id}', { id: application, slide_id }, settings);
    return { record: { ...slide, photo: slide.photo?.url ?? null }, etag };
  },
  create: async (values) => (await post('/api/applications/{id}/slides', { id: application }, values)).slide.id,
  update: (slide_id, changes, settings) => put('/api/applications/{id}/slides/{slide_id}', { id: application, slide_id }, changes, settings),
  remove: (slide_id, settings) => remove('/api/applications/{id}/slides/{slide_id}', { id: application, slide_id }, settings),
});

/** State of a slide now, with its colour. @param {Slide} slide @returns {['shown' | 'hidden' | 'scheduled' | 'over', 'good' | 'plain' | 'info']} */
function stateOf(slide) {
  const now = Date.now();
  if (!slide.is_active) return ['hidden', 'plain'];
  if (slide.starts_at && Date.parse(slide.starts_at) > now) return ['scheduled', 'info'];
  return slide.ends_at && Date.parse(slide.ends_at) <= now ? ['over', 'plain'] : ['shown', 'good'];
}

/** From and until, as far as they are set. @param {Slide} slide */
const period = ({ starts_at: from, ends_at: to }) => [from && t('slide.from', { date: dateTime(from) }), to && t('slide.until', { date: dateTime(to) })].filter(Boolean).join(' ');

export default function Slides() {
  return html`<${Page} title=${t('nav.slides')} note=${t('slide.note')} />
    <${Applications} base="/slides">${(/** @type {number} */ id) => html`<${SlideList} key=${id} application=${id} />`}<//>`;
}

/** @param {{ application: number }} props */
function SlideList({ application }) {
  const loaded = useLoad((signal) => everything(async (page) => {
    const answer = await get('/api/applications/{id}/slides', { id: application, page, per_page: 100 }, { signal });
    return { ...answer, rows: answer.slides };
  }), [application]);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  /** The button that was pressed, to focus it again after the rows have moved. */
  const pressed = useRef(/** @type {[number, string] | null} */ (null));
  const edits = can('edit-slides');
  const edit = async (/** @type {Slide | null} */ slide) => {
    if (await editRecord(resource(application), slide ? { id: slide.id, name: slide.title } : {})) loaded.reload();
  };
  const shift = async (/** @type {number} */ slide_id, /** @type {'up' | 'down'} */ way) => {
    pressed.current = [slide_id, way];
    await attempt(() => post(`/api/applications/{id}/slides/{slide_id}/${way}`, { id: application, slide_id }));
    loaded.reload();
  };
  useEffect(() => {
    const [slide, way] = pressed.current ?? [];
    const button = list.current?.querySelector(`[data-slide="${slide}-${way}"]:enabled`) ?? list.current?.querySelector(`[data-slide^="${slide}-"]:enabled`);
    if (slide && button instanceof HTMLElement) button.focus();
    pressed.current = null;
  }, [loaded.data]);
  const create = can('create-slides') && html`<button type="button" class="button primary" onClick=${() => edit(null)}><${Icon} name="plus" size=${16} />${t('slide.new')}</button>`;
  return html`<${Card} flush title=${t('nav.slides')} actions=${create}><${Loading} of=${loaded}>${(/** @type {Slide[]} */ slides) => html`
    ${slides.length === 0 && html`<${Empty} icon="image" title=${t('slide.none')} text=${t('slide.noneText')} />`}
    <ul class="list" ref=${list}>${slides.map((slide, index) => {
      const [state, kind] = stateOf(slide);
      return html`<li key=${slide.id}><${Picture} url=${slide.photo?.url} size=${48} />
        <div class="grow"><b>${slide.title}</b> <${Badge} kind=${kind}>${t(`slide.state.${state}`)}<//>
          <p class="faint">${[slide.link, period(slide)].filter(Boolean).join(' · ')}</p></div>
        <${HistoryButton} name=${slide.title} load=${(/** @type {number} */ page, /** @type {AbortSignal} */ signal) => get('/api/applications/{id}/slides/{slide_id}/history', { id: application, slide_id: slide.id, page }, { signal })} />
        ${edits && html`${/** @type {const} */ (['up', 'down']).map((way) => html`<button type="button" key=${way} class="icon-button" data-slide=${`${slide.id}-${way}`} aria-label=${`${t(`tree.${way}`)}: ${slide.title}`}
            disabled=${index === (way === 'up' ? 0 : slides.length - 1)} onClick=${() => shift(slide.id, way)}><${Icon} name=${way} size=${16} /></button>`)}
          <button type="button" class="icon-button" aria-label=${`${t('edit')}: ${slide.title}`} onClick=${() => edit(slide)}><${Icon} name="edit" size=${16} /></button>`}</li>`;
    })}</ul>`}<//><//>`;
}
