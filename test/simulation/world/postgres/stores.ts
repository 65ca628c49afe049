import { openDatabase } from '#adapters/postgres/database.ts';
import { searchPostgres } from '#catalog/reading/search.ts';
import { advisoryLocks } from '#shared/sql.ts';
import { type RunServer, withDatabase } from '../../../support/postgres/template.ts';
import { POISONED } from '../engine.ts';
import { createInspector } from '../inspector.ts';
import type { SimulatedStore, Stores } from '../store.ts';
import { type Ask, createAsk } from './asking.ts';
import { patchDriver, type Play, processesOf } from './driver.ts';
import { createUnderWay } from './under-way.ts';

const TABLES = `
  SELECT relname AS name FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')`;
const LOCK = `SELECT pg_try_advisory_lock(${advisoryLocks.exclusive}) AS taken`;
const UNLOCK = `SELECT pg_advisory_unlock(${advisoryLocks.exclusive})`;
const REFUSES = `ALTER TABLE receipt ADD CHECK (correlation_id <> '${POISONED}')`;
const WAITING = 'SELECT DISTINCT pid FROM pg_locks WHERE NOT granted';
const END = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid = ANY ($1)`;

/** Databases of a server, each a copy of one that is empty. */
export async function openPostgresStores({ url: server, template }: RunServer): Promise<Stores> {
  const ask = createAsk();
  let count = 0;
  return {
    create: () => {
      const name = `${template}_${process.pid}_${(count += 1)}`;
      ask(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
      const drop = () => void ask(server, `DROP DATABASE ${name} WITH (FORCE)`);
      return openStore(ask, { server, url: withDatabase(server, name), drop });
    },
  };
}

type Place = { server: string; url: string; drop: () => void };

function openStore(ask: Ask, { server, url, drop }: Place): SimulatedStore {
  ask(url, REFUSES);
  const underWay = createUnderWay(() =>
    ask<{ pid: number }>(server, WAITING).map(({ pid }) => pid),
  );
  const play: Play = { underWay, lines: new Map() };
  patchDriver(play);
  const all = <Row>(sql: string, ...values: unknown[]): Row[] => {
    let at = 0;
    return ask<Row>(
      url,
      sql.replaceAll('?', () => `$${(at += 1)}`),
      ...values,
    );
  };
  return {
    inspector: createInspector(all),
    search: searchPostgres,
    open: (owner, deps) => {
      play.deps = deps;
      return {
        database: openDatabase({ url }),
        cut: () => {
          const processes = processesOf(play, owner);
          while (ask(url, END, processes).length > 0);
        },
      };
    },
    lock: () => {
      const other = `${url}?application_name=other`;
      if (!ask<{ taken: boolean }>(other, LOCK)[0]?.taken) return undefined;
      return () => void ask(other, UNLOCK);
    },
    settled: underWay.settled,
    orphans: {},
    placesOf: (text) => {
      const tables = all<{ name: string }>(TABLES).map(({ name }) => name);
      const texts = [text, Buffer.from(text).toString('hex')];
      return tables.filter((name) =>
        texts.some(
          (one) => all(`SELECT 1 FROM ${name} AS one WHERE strpos(one::text, ?) > 0`, one)[0],
        ),
      );
    },
    close: drop,
  };
}
