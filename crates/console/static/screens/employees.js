// @ts-check
// Employees with their roles. The API only lists them.
import { get } from '../lib/api.js';
import { ago, phone } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad, useRested } from '../lib/load.js';
import { Link, place, setQuery } from '../lib/router.js';
import { can, user } from '../lib/session.js';
import { Badge, Card, Empty, Loading, Page, Picture } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/users', 'get'>['users'][number]} Employee */

const PAGE = 50;

export default function Employees() {
  const { query } = place.use();
  const [text, setText] = useState(query.get('q') ?? '');
  const [pages, setPages] = useState(1);
  const sought = useRested(text.trim(), 180);
  const loaded = useLoad(async (signal) => {
    const answers = await Promise.all(Array.from({ length: pages }, (_, index) => get('/api/users', { query: sought, page: index + 1, per_page: PAGE }, { signal })));
    return { users: answers.flatMap(({ users }) => users), total: answers[0]?.usersCount ?? 0 };
  }, [sought, pages]);
  const type = (/** @type {string} */ value) => {
    setText(value);
    setPages(1);
    setQuery({ q: value.trim() });
  };
  return html`<${Page} title=${t('nav.employees')} note=${t('employee.note')} />
    <${Card} flush>
      <div class="filters"><div class="search-field"><${Icon} name="search" size=${16} />
        <input type="search" data-filter maxlength="255" aria-label=${t('table.search')} placeholder=${t('table.search')} value=${text} onInput=${(/** @type {any} */ e) => type(e.target.value)} /></div>
        ${can('view-roles') && html`<span class="grow" /><${Link} to="/roles">${t('nav.roles')}<//>`}</div>
      <${Loading} of=${loaded}>${(/** @type {{ users: Employee[], total: number }} */ { users, total }) => html`
        ${users.length === 0 && html`<${Empty} icon="search" title=${t('table.nothing')} />`}
        <ul class="list">${users.map((one) => html`<${Line} key=${one.id} employee=${one} />`)}</ul>
        ${users.length < total && users.length === pages * PAGE && html`<p class="row pager"><button type="button" class="link" onClick=${() => setPages(pages + 1)}>${t('more')}</button></p>`}`}<//>
    <//>`;
}

/** @param {{ employee: Employee }} props */
function Line({ employee: one }) {
  const name = [one.last_name, one.first_name, one.middle_name].filter(Boolean).join(' ');
  const note = [one.login, one.phone && phone(one.phone), one.branch?.name, one.department?.name].filter(Boolean).join(' · ');
  return html`<li><${Picture} url=${one.avatar?.url} size=${32} />
    <div class="grow"><b>${name || one.login}</b> ${one.id === user.get()?.id && html`<${Badge} kind="info">${t('employee.you')}<//>`}
      ${one.is_banned && html` <${Badge} kind="bad">${t('employee.banned')}<//>`}${one.is_sick && html` <${Badge} kind="warn">${t('employee.sick')}<//>`}
      <p class="faint">${note}</p>
      <p class="faint">${t('column.last_activity_at')}: ${one.last_activity_at ? ago(one.last_activity_at) : t('employee.never')}</p></div>
    <${Badge}>${one.role.name}<//></li>`;
}
