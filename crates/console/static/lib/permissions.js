// @ts-check
// Permissions as a table of resources and verbs, as the approvals, agents and roles show them.
import { html, useId } from './html.js';
import { maybe, t } from './i18n.js';
import { can } from './session.js';

/** @typedef {{ verb: string, resource: string }} Parts */

/** @param {string} name @returns {Parts} */
function partsOf(name) {
  const at = name.indexOf('-');
  return { verb: at > 0 ? name.slice(0, at) : name, resource: at > 0 ? name.slice(at + 1) : '' };
}

/** The permission in words. @param {string} name */
export function permissionText(name) {
  const { verb, resource } = partsOf(name);
  const what = maybe(`resource.${resource}`);
  const does = maybe(`verb.${verb}`);
  return what && does ? `${what}: ${does.toLowerCase()}` : name;
}

/** Permissions by resource. @param {string[]} names @returns {[string, string[]][]} */
export function grouped(names) {
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const name of names) {
    const { resource } = partsOf(name);
    groups.set(resource, [...groups.get(resource) ?? [], name]);
  }
  return [...groups].sort(([a], [b]) => (maybe(`resource.${a}`) ?? a).localeCompare(maybe(`resource.${b}`) ?? b));
}

/**
 * Check boxes for permissions. What the employee does not hold cannot be chosen.
 * @param {{ names: string[], chosen: string[], onChange: (chosen: string[]) => void, readonly?: boolean }} props
 */
export function Permissions({ names, chosen, onChange, readonly }) {
  const id = useId('permissions');
  const order = ['view', 'create', 'edit', 'approve'];
  return html`<div class="permissions">${grouped(names).map(([resource, list]) => html`<div class="permission-group" role="group" key=${resource} aria-labelledby=${`${id}-${resource}`}>
    <b id=${`${id}-${resource}`}>${maybe(`resource.${resource}`) ?? resource}</b>
    <div class="row">${list.sort((a, b) => order.indexOf(partsOf(a).verb) - order.indexOf(partsOf(b).verb)).map((name) => {
      const held = can(name);
      return html`<label class="check" key=${name} title=${held ? name : t('approval.notYours')}>
        <input type="checkbox" checked=${chosen.includes(name)} disabled=${readonly || !held}
          onChange=${() => onChange(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name])} />
        ${maybe(`verb.${partsOf(name).verb}`) ?? name}${!held && html` <span class="sr-only">${t('approval.notYours')}</span>`}
      </label>`;
    })}</div>
  </div>`)}</div>`;
}
