import type { TrackerResponse } from '../response.ts';
import type { Repository, World } from '../../world/model.ts';
import { issuePage, listPage, missingPage } from '../documents/page.ts';
import type { TrackerRequest } from '../route.ts';
import { fullNameOf } from '../../world/world.ts';

/** Pages for people; undefined when the request is not for one. */
export function respondWithPage(
  { world, repository }: { world: World; repository: Repository },
  { method, path }: TrackerRequest,
): TrackerResponse | undefined {
  if (method !== 'GET') return undefined;
  if (path === '/' || path === `/${fullNameOf(repository)}`) return listPage(world, repository);
  const [, place, number] =
    /^\/(?!repos\/)([^/]+\/[^/]+)\/(?:issues|pull)\/(\d+)$/.exec(path) ?? [];
  if (place === undefined || place.startsWith('repositories/')) return undefined;
  const issue = repository.issues.byNumber.get(Number(number));
  if (issue && place === fullNameOf(repository)) return issuePage(repository, issue);
  const departure = repository.departures.get(Number(number));
  return missingPage(departure ? `Issue ${number} was ${departure.kind}.` : `No issue ${number}.`);
}
