"""Recordings of real links: conversion of public datasets to the tables that scenarios replay (docs/traces.md)."""
