import { readFileSync } from 'node:fs';
import type { OxlintConfig } from 'oxlint';

/**
 * Who may import whom, by folder: the folders below `src`, and `sandbox` beside it. A folder's own
 * files are imported by relative paths, other folders' by `#folder/…`. `docs/architecture.md` gives
 * the reasons, and `test/architecture/import-rule.test.ts` plants violations of every line.
 */
const mayImport = {
  shared: [],
  config: ['shared'],
  leads: ['shared'],
  access: ['shared'],
  catalog: ['shared'],
  partners: ['shared', 'leads'],
  sandbox: ['shared'],
  adapters: ['shared', 'leads', 'access', 'partners', 'catalog'],
  http: ['shared', 'leads', 'access', 'partners', 'catalog'],
  portal: ['shared', 'leads', 'access', 'partners', 'catalog', 'http'],
  compose: [
    'shared',
    'leads',
    'access',
    'partners',
    'catalog',
    'config',
    'adapters',
    'http',
    'portal',
    'sandbox',
  ],
  doctor: ['shared', 'leads', 'partners', 'config', 'adapters', 'http', 'compose'],
  cli: [
    'shared',
    'leads',
    'access',
    'partners',
    'catalog',
    'config',
    'adapters',
    'compose',
    'doctor',
  ],
} as const;

const folders = Object.keys(mayImport) as (keyof typeof mayImport)[];

/** Folders that decide, and so know no framework, no tracker client and no driver. */
const domain = new Set<string>(['leads', 'access', 'catalog', 'partners']);

type Restriction = { regex: string; message: string };

/** Folders below a folder, as deep as they may lie. */
const depths = [0, 1, 2, 3];

/** Relative paths stay in the file's own folder, so they take `depth` steps up and no more. */
const byName = (depth: number): Restriction => ({
  regex: `^(\\.\\./){${depth + 1},}`,
  message: 'another folder is imported by its #name',
});

const noVendors: Restriction = {
  regex:
    '^(fastify|@fastify/|@octokit/|@opentelemetry/|better-sqlite3|pg$|jose|openid-client|cookie$)',
  message: 'domain code knows no framework, tracker client or driver',
};

const oneAdapter: Restriction = {
  regex: '^(\\.\\./)+(github|jose|openid-client|opentelemetry|pino|postgres|sqlite|threads)/',
  message: 'one adapter knows nothing of another',
};

const noClient: Restriction = {
  regex: '^@trackport/',
  message: 'commands alone call another Trackport',
};

const noEngine: Restriction = {
  regex: '^#adapters/(sqlite|postgres)/',
  message: 'compose opens the store for commands',
};

function restrictionsOf(folder: keyof typeof mayImport, depth: number): Restriction[] {
  const allowed: readonly string[] = mayImport[folder];
  const refused = folders.filter((name) => !allowed.includes(name));
  return [
    {
      regex: `^#(${refused.join('|')})/`,
      message: `${folder} imports of ours: ${allowed.join(', ') || 'nothing'}`,
    },
    byName(depth),
    ...(domain.has(folder) ? [noVendors] : []),
    folder === 'cli' ? noEngine : noClient,
    ...(folder === 'adapters' ? [oneAdapter] : []),
  ];
}

const restrict = (patterns: Restriction[]): ['error', { patterns: Restriction[] }] => [
  'error',
  { patterns },
];

const rootOf = (folder: string): string => (folder === 'sandbox' ? folder : `src/${folder}`);

const importRules = folders.flatMap((folder) =>
  depths.map((depth) => ({
    files: [
      `${rootOf(folder)}/${'*/'.repeat(depth)}*.ts`,
      ...(depth === 0 ? [`${rootOf(folder)}.ts`] : []),
    ],
    rules: { 'no-restricted-imports': restrict(restrictionsOf(folder, depth)) },
  })),
);

const glossary = readFileSync(new URL('docs/glossary.md', import.meta.url), 'utf8');
const refusedColumns = glossary.matchAll(/^\| .*\|(.*)\|$/gm);

/** Words that the glossary refuses as `code`, and some that are no field's and have no row there. */
const privateWords = [
  ...[...refusedColumns]
    .flatMap(([, column = '']) => [...column.matchAll(/`(\w+)`/g)].map(([, word = '']) => word))
    .flatMap((word) => [word, `${word}s`, capitalized(word), capitalized(`${word}s`)]),
  ...['asked', 'told', 'got', 'owing', 'owed', 'wish', 'wishes', 'desk', 'handed', 'hand', 'face'],
  ...['Asked', 'Wish', 'Desk'],
];

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

const config = {
  plugins: ['typescript', 'import', 'unicorn', 'node', 'promise', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  rules: {
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/no-unnecessary-condition': 'off',
    'import/no-default-export': 'error',
    'no-duplicate-imports': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-unassigned-import': 'off',
    'import/no-named-as-default-member': 'off',
    'typescript/consistent-return': 'off',
    'vitest/require-to-throw-message': 'off',
    'vitest/no-conditional-expect': 'off',
    'no-console': 'error',
    'node/no-process-env': 'error',
    'no-await-in-loop': 'off',
    'unicorn/no-await-expression-member': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/require-post-message-target-origin': 'off',
    'no-underscore-dangle': 'off',
    'no-shadow': 'off',
    'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    'max-lines': ['error', { max: 400 }],
    'max-params': ['error', { max: 5 }],
    complexity: ['error', { max: 12 }],
  },
  overrides: [
    ...importRules,
    { files: ['src/**', 'sandbox/**'], rules: { 'id-denylist': ['error', ...privateWords] } },
    { files: ['src/cli/**'], rules: { 'no-console': 'off' } },
    {
      files: ['src/main.ts', 'bin/**'],
      rules: { 'no-console': 'off', 'node/no-process-env': 'off' },
    },
    {
      files: ['test/**', 'bench/**'],
      rules: {
        'no-console': 'off',
        'node/no-process-env': 'off',
        'max-lines-per-function': 'off',
        'max-lines': 'off',
        complexity: 'off',
        'import/no-default-export': 'off',
        'vitest/require-mock-type-parameters': 'off',
        'vitest/consistent-test-it': ['error', { fn: 'test', withinDescribe: 'test' }],
      },
    },
  ],
  ignorePatterns: ['node_modules', 'coverage', 'data'],
} satisfies OxlintConfig;

export default config;
