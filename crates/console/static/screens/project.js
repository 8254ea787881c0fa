// @ts-check
// The project: name, currency, time zone and language, and the integrations that the service knows.
import { get } from '../lib/api.js';
import { dateTime } from '../lib/format.js';
import { html } from '../lib/html.js';
import { language, maybe, t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { Card, Facts, Loading, Page } from '../lib/ui.js';

/** Records that integrations belong to: screen and permission. @type {Record<string, { to: string, permission: string }>} */
const OWNERS = {
  warehouse: { to: '/warehouses', permission: 'view-warehouses' },
  bank_requisite: { to: '/branches', permission: 'view-branches' },
};

/** The value of a setting in words. @param {string} name @param {string} value */
const inWords = (name, value) => (name === 'language' ? new Intl.DisplayNames([language.get()], { type: 'language' }).of(value) : value);

export default function Project() {
  const settings = useLoad((signal) => get('/api/settings', {}, { signal }), []);
  const integrations = useLoad((signal) => get('/api/integrations', {}, { signal }), []);
  return html`<${Page} title=${t('nav.project')} note=${t('project.note')} />
    <${Card}><${Loading} of=${settings} lines=${3}>${(/** @type {any} */ { settings: list }) => html`<${Facts} rows=${[
      ...list.map((/** @type {any} */ { name, value }) => [maybe(`setting.${name}`) ?? name, inWords(name, value)]),
      [t('column.created_at'), dateTime(list[0]?.created_at)],
    ]} />`}<//><//>
    <${Card} title=${t('integrations')} flush>
      <${Loading} of=${integrations} lines=${3}>${(/** @type {any} */ { integrations: list }) => html`<ul class="list">${list.map((/** @type {any} */ one) => {
        const owner = OWNERS[one.owner];
        return html`<li key=${one.id}><div class="grow"><b>${one.name}</b><p class="faint">${one.integration_type.name}</p></div>
          ${owner && can(owner.permission) && html`<${Link} to=${owner.to}>${t(`integrations.${one.owner}`)}<//>`}</li>`;
      })}</ul>`}<//>
    <//>`;
}
