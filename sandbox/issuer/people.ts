import { ALL_SCOPES } from './clients.ts';

export type Person = {
  name: string;
  /** Work of the person, as the sign-in page says it. */
  may: string;
  /** Scopes of the person's tokens at most, with blanks between them. */
  scopes: string;
  workspaceId: string;
};

/** People who can sign in, by subject. All are made up. */
export const people: ReadonlyMap<string, Person> = new Map([
  [
    'owner',
    {
      name: 'Olivia Owner',
      may: 'owns the catalog and runs the service: may do everything',
      scopes: ALL_SCOPES,
      workspaceId: 'default',
    },
  ],
  [
    'operator',
    {
      name: 'Otto Operator',
      may: 'looks after consumers, partners, receipts and claims, and reads the catalog',
      scopes: 'catalog:read trackport:admin',
      workspaceId: 'default',
    },
  ],
  [
    'reader',
    {
      name: 'Rita Reader',
      may: 'reads the catalog and changes nothing',
      scopes: 'catalog:read',
      workspaceId: 'default',
    },
  ],
]);
