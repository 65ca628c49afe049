import { people } from './people.ts';

/** Of every page here: nothing is loaded, and no other page can frame it. */
export const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const STYLE = `:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:3rem auto;padding:0 1rem}
button{font:inherit;padding:.75rem 1rem;margin:0 0 .75rem;width:100%;text-align:start;cursor:pointer}
button b,button span{display:block}`;

/** Asks who is there: a button for each person, each of which sends the form. */
export function renderSignIn(action: string): string {
  const buttons = [...people].map(
    ([subject, { name, may }]) =>
      `<button name="person" value="${subject}"><b>${name}</b><span>${may}</span></button>`,
  );
  return renderPage(
    'Sandbox sign-in',
    `<h1>Who is there?</h1>
<p>The sandbox asks for no password: everything behind it is made up.</p>
<form method="post" action="${action}">
${buttons.join('\n')}
<button name="person" value="nobody"><b>Nobody</b><span>gives no consent, and goes back where the sign-in began</span></button>
</form>`,
  );
}

/** Asks whether to end the session; `form` is the provider's own, which the buttons send. */
export function renderSignOut(form: string): string {
  return renderPage(
    'Sandbox sign-out',
    `<h1>Sign out of the sandbox?</h1>
${form}
<button form="op.logoutForm" name="logout" value="yes"><b>Sign out</b></button>
<button form="op.logoutForm"><b>Stay signed in</b></button>`,
  );
}

/** Last page of a sign-out that names no address to go back to. */
export function renderSignedOut(): string {
  return renderPage('Signed out', '<h1>Signed out</h1>\n<p>The sandbox has forgotten you.</p>');
}

function renderPage(title: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`;
}
