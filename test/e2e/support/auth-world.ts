// Declares the tests of sign-in for each browser and site.
import { after, before, beforeEach, describe } from 'node:test';
import type { Service, ServiceOptions } from '../../../demo/server/server.ts';
import { isFullSize } from '../../../scripts/scope.mjs';
import { type Engine, engines } from './auth-browsers.ts';
import { CALLBACK_PATH, createWorld, type Place, type Site, type World } from './world.ts';

export const BOTH: readonly Site[] = ['same-site', 'cross-site'];
/** Sites for tests that do not depend on the site: both at full size, otherwise only `cross-site`, which is more difficult. */
export const BOTH_AT_FULL_SIZE: readonly Site[] = isFullSize ? BOTH : ['cross-site'];

export let world: World;

/**
 * Declares the same tests for Chromium on each of `sites` and, if the run includes Firefox, for Firefox on the last one. Each
 * browser and site has a separate world, which is reset before each test.
 */
export function inWorlds(
  { sites, only, ...options }: Partial<ServiceOptions> & { sites: readonly Site[]; only?: Engine },
  declare: (place: Place) => void,
): void {
  for (const engine of engines.filter((engine) => !only || engine === only)) {
    describe(engine, () => {
      for (const site of engine === 'chromium' ? sites : sites.slice(-1)) {
        describe(site, () => {
          before(async () => {
            world = await createWorld(options, { engine, site });
          });
          after(() => world.close());
          beforeEach(() => world.reset());
          declare({ engine, site });
        });
      }
    });
  }
}

/** Returns the URL of the page that a sign-in window of the journeys opens, optionally with an identity provider. */
export function authorizeUrl({ baseUrl }: Pick<Service, 'baseUrl'>, idp?: string): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'secure-uploader',
    redirect_uri: `${world.pages.origin}${CALLBACK_PATH}`,
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    state: 'some-state',
    ...(idp !== undefined && { idp_id: idp }),
  });
  return `${baseUrl}/authorize?${query}`;
}
