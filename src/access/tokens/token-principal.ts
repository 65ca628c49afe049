/** Who a verified bearer token speaks for. */
export type TokenPrincipal = {
  /** The token's `sub`, else its client. */
  subject: string;
  /** The token's client: `client_id`, or what the issuer calls it. */
  clientId?: string;
  scopes: readonly string[];
  /** From the configured token claim, else `default`. */
  workspaceId: string;
};
