// @ts-check
// Sign-in: as a page at first, as a dialog over the screen when the session has ended.
import { ApiError, get, post } from './api.js';
import { Dialog } from './dialog.js';
import { setProject } from './format.js';
import { html, recall, remember, useEffect, useId, useState } from './html.js';
import { language, LANGUAGES, setLanguage, t } from './i18n.js';
import { begin, can, end, enter, user } from './session.js';
import { reason } from './ui.js';

/** Signs in and reads the project's settings. @param {string} login @param {string} password */
async function signIn(login, password) {
  const { user: found } = await post('/api/login', {}, { login, password }, { anonymous: true });
  const { access_token: token, ...employee } = found;
  if (user.get() === null) remember('login', login);
  begin(employee, token.value);
  if (can('view-dictionaries')) {
    await get('/api/settings').then((answer) => setProject(answer.settings), () => {});
  }
  enter(employee);
}

/** @param {{ login?: string | null }} props `login` is given when the same employee has to return */
function Form({ login: fixed }) {
  const [login, setLogin] = useState(fixed ?? recall('login', ''));
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const [notice, setNotice] = useState('');
  const id = useId('sign-in');
  useEffect(() => document.getElementById(`${id}-${login ? 'password' : 'login'}`)?.focus(), []);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setError('');
    setNotice('');
    try {
      await signIn(login.trim(), password);
    } catch (failure) {
      const wrong = failure instanceof ApiError && [401, 422].includes(failure.status);
      setError(wrong ? t('signIn.wrong') : reason(failure));
      setPassword('');
      document.getElementById(`${id}-password`)?.focus();
    }
    setBusy(false);
  };
  const forgotten = async () => {
    setError('');
    if (!login.trim()) return setError(t('signIn.loginFirst'));
    try {
      await post('/api/send_password', {}, { login: login.trim() }, { anonymous: true });
      setNotice(t('signIn.sent'));
    } catch (failure) {
      setError(reason(failure));
    }
  };
  return html`<form class="sign-in-form" onSubmit=${submit}>
    <div class="field">
      <label for=${`${id}-login`}>${t('signIn.login')}</label>
      <input id=${`${id}-login`} name="login" autocomplete="username" required maxlength="100" readonly=${fixed != null} value=${login}
        autofocus=${!login} onInput=${(/** @type {any} */ e) => setLogin(e.target.value)} />
    </div>
    <div class="field">
      <label for=${`${id}-password`}>${t('signIn.password')}</label>
      <input id=${`${id}-password`} name="password" type="password" autocomplete="current-password" required value=${password}
        autofocus=${Boolean(login)} aria-describedby=${`${id}-error`} onInput=${(/** @type {any} */ e) => setPassword(e.target.value)} />
    </div>
    <p id=${`${id}-error`} class=${error ? 'field-error' : 'note'} role="alert">${error || notice}</p>
    <button class="button primary large" disabled=${busy}>${busy ? t('signIn.busy') : t('signIn.submit')}</button>
    <div class="row spread">
      <button type="button" class="link" onClick=${forgotten}>${t('signIn.forgotten')}</button>
      ${fixed != null && html`<button type="button" class="link" onClick=${end}>${t('signIn.other')}</button>`}
    </div>
  </form>`;
}

/** The first page. */
export function SignIn() {
  const current = language.use();
  return html`<main class="sign-in">
    <div class="sign-in-card">
      <div class="brand-mark" aria-hidden="true">K</div>
      <h1 tabindex="-1">${t('signIn.title')}</h1>
      <p class="note">${t('signIn.note')}</p>
      <${Form} />
    </div>
    <p class="sign-in-foot">${LANGUAGES.map((name) => html`<button type="button" key=${name} class="link" lang=${name}
      aria-pressed=${name === current} onClick=${() => setLanguage(name)}>${name === 'ru' ? 'Русский' : 'English'}</button>`)}</p>
  </main>`;
}

/** The dialog over a screen whose session has ended. Typing stays where it is. */
export function SignInAgain() {
  return html`<${Dialog} title=${t('signIn.again')} locked onClose=${() => {}}>
    <p class="note">${t('signIn.againNote')}</p>
    <${Form} login=${user.get()?.login ?? ''} />
  <//>`;
}
