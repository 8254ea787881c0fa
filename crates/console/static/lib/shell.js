// @ts-check
// The frame of every screen: navigation, top bar, palette, shortcuts, toasts.
import { signOut } from './api.js';
import { confirm, focusMain, Menu, open, Toasts } from './dialog.js';
import { projectName } from './format.js';
import { Component, cx, html, recall, remember, store, useEffect, useState } from './html.js';
import { language, LANGUAGES, loadTexts, setLanguage, t } from './i18n.js';
import { Icon } from './icons.js';
import { keysLabel, setSingleKeys, singleKeys, useActions } from './keys.js';
import { forget, useLoad } from './load.js';
import { askWith, Link, navigate, place } from './router.js';
import { actions, screenAt, screens } from './sections.js';
import { can, expired, user } from './session.js';
import { SignIn, SignInAgain } from './sign-in.js';
import { Empty, Failure, Skeleton } from './ui.js';

const theme = store(recall('theme', 'auto'));

/** Applies a theme: `auto`, `light` or `dark`. @param {string} next */
export function setTheme(next) {
  theme.set(next);
  remember('theme', next);
  if (next === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
}

/** The whole interface. */
export function App() {
  const employee = user.use();
  language.use();
  useEffect(() => {
    askWith(() => confirm({ title: t('leave.title'), text: t('leave.text'), confirm: t('leave.confirm'), danger: true }));
    setTheme(theme.get());
  }, []);
  useEffect(() => {
    forget();
    if (!employee) document.title = 'Kontor';
  }, [employee?.id]);
  return html`${employee ? html`<${Shell} key=${employee.id} />` : html`<${SignIn} />`}<${Toasts} />`;
}

/** Opens the palette. Its module is loaded at the first use. */
async function openPalette() {
  if (document.querySelector('dialog.palette')) return;
  const { Palette } = await import('./palette.js');
  await open((close) => html`<${Palette} close=${() => close(null)} />`);
}

function Shell() {
  const { path } = place.use();
  const ended = expired.use();
  const keys = singleKeys.use();
  const [shown, setShown] = useState(false);
  const allowed = screens.filter((screen) => can(screen.permission));
  const listed = allowed.filter((screen) => screen.icon);
  const help = async () => {
    if (document.querySelector('dialog.help')) return;
    const { Shortcuts } = await import('./shortcuts.js');
    await open((close) => html`<${Shortcuts} close=${() => close(null)} />`);
  };
  useActions([
    { id: 'palette', label: t('palette.open'), keys: 'ctrl+k', icon: 'search', hidden: true, run: openPalette },
    { id: 'help', label: t('shortcuts.title'), keys: '?', icon: 'keyboard', run: help },
    ...allowed.filter((screen) => screen.keys).map((screen) => ({
      id: screen.path, label: t(screen.title), keys: /** @type {string} */ (screen.keys), hidden: true, run: () => navigate(screen.path),
    })),
    ...actions.filter((action) => can(action.permission)).map((action) => ({
      id: action.id, label: t(action.title), icon: action.icon, ...(action.keys ? { keys: action.keys } : {}), run: () => navigate(action.to),
    })),
    { id: 'theme', label: t('theme.switch'), icon: 'sun', run: () => setTheme(theme.get() === 'dark' ? 'light' : 'dark') },
    { id: 'sign-out', label: t('signOut'), icon: 'logout', run: signOut },
  ]);
  useEffect(() => setShown(false), [path]);
  // The palette is there when its keys are pressed: what is typed next must reach its field.
  useEffect(() => void import('./palette.js'), []);
  const groups = [...new Set(listed.map((screen) => screen.section ?? ''))];
  const active = listed.reduce((best, screen) => {
    const here = screen.path === '/' ? path === '/' : path === screen.path || path.startsWith(`${screen.path}/`);
    return here && screen.path.length > best.length ? screen.path : best;
  }, '');
  return html`<div class=${cx('shell', shown && 'nav-open')}>
    <a class="skip" href="#main" onClick=${(/** @type {Event} */ e) => { e.preventDefault(); focusMain(); }}>${t('skip')}</a>
    <nav class="side" id="side" aria-label=${t('nav')} onKeyDown=${(/** @type {KeyboardEvent} */ e) => e.key === 'Escape' && setShown(false)}>
      <div class="side-brand"><span class="brand-mark small" aria-hidden="true">K</span><span class="ellipsis">${projectName()}</span></div>
      ${groups.map((group) => html`<div class="side-group" key=${group}>
        <h2>${t(group)}</h2>
        <ul>${listed.filter((screen) => (screen.section ?? '') === group).map((screen) => html`<li key=${screen.path}>
          <${Link} to=${screen.path} aria-current=${active === screen.path ? 'page' : undefined}>
            <${Icon} name=${screen.icon} /><span>${t(screen.title)}</span>
            ${screen.keys && keys && html`<kbd aria-hidden="true">${keysLabel(screen.keys)}</kbd>`}
          <//></li>`)}</ul>
      </div>`)}
    </nav>
    <div class="veil" onClick=${() => setShown(false)} />
    <div class="column">
      <header class="top">
        <button type="button" class="icon-button burger" aria-label=${t('nav')} aria-expanded=${shown} aria-controls="side"
          onClick=${() => setShown(!shown)}><${Icon} name="menu" /></button>
        <button type="button" class="search-button" onClick=${openPalette}>
          <${Icon} name="search" /><span>${t('palette.button')}</span><kbd>Ctrl K</kbd>
        </button>
        <span class="grow" />
        <button type="button" class="icon-button wide-only" title=${t('shortcuts.title')} aria-label=${t('shortcuts.title')} onClick=${help}><${Icon} name="keyboard" /></button>
        <${UserMenu} />
      </header>
      <main id="main" tabindex="-1"><${Outlet} path=${path} /></main>
    </div>
    ${ended && html`<${SignInAgain} />`}
  </div>`;
}

function UserMenu() {
  const employee = user.use();
  const chosen = theme.use();
  const current = language.use();
  const keys = singleKeys.use();
  const name = [employee?.first_name, employee?.last_name].filter(Boolean).join(' ') || employee?.login || '';
  return html`<${Menu} label=${name} icon="user" class="icon-button user-button" items=${[
    ...['auto', 'light', 'dark'].map((value) => ({ label: t(`theme.${value}`), checked: chosen === value, run: () => setTheme(value) })),
    ...LANGUAGES.map((value) => ({ label: value === 'ru' ? 'Русский' : 'English', checked: current === value, run: () => void setLanguage(value) })),
    { label: t('shortcuts.single'), checked: keys, run: () => setSingleKeys(!keys) },
    { label: t('signOut'), icon: 'logout', run: () => void signOut() },
  ]} />`;
}

/** Shows the screen of the address. @param {{ path: string }} props */
function Outlet({ path }) {
  const found = screenAt(path);
  const pattern = found?.screen.path ?? '';
  const loaded = useLoad(async () => {
    if (!found) return null;
    const [module] = await Promise.all([found.screen.load(), loadTexts(found.screen.texts)]);
    return { pattern, Screen: module.default };
  }, [pattern]);
  useEffect(() => {
    const taken = document.querySelector('main')?.contains(document.activeElement) && document.activeElement?.matches('input');
    if (loaded.data?.pattern === pattern && !taken && !document.querySelector('dialog[open]')) focusMain();
  }, [path, loaded.data?.pattern]);
  if (!found) return html`<div class="page"><${Empty} icon="search" title=${t('error.missing')} text=${t('error.404')} /></div>`;
  if (!can(found.screen.permission)) return html`<div class="page"><${Empty} icon="key" title=${t('error.forbidden')} text=${t('error.403')} /></div>`;
  if (loaded.error) return html`<div class="page"><${Failure} error=${loaded.error} retry=${loaded.reload} /></div>`;
  if (loaded.data?.pattern !== pattern) return html`<div class="page"><${Skeleton} /></div>`;
  const { Screen } = loaded.data;
  return html`<div class="page"><${Boundary} key=${path}><${Screen} params=${found.params} /><//></div>`;
}

/** Keeps an error of one screen within it. */
class Boundary extends Component {
  /** @param {Error} error */
  componentDidCatch(error) {
    this.setState({ error });
    console.error(error);
  }

  render() {
    const { error } = /** @type {{ error?: Error }} */ (this.state);
    if (!error) return this.props.children;
    return html`<${Failure} error=${error} retry=${() => this.setState({ error: undefined })} />`;
  }
}
