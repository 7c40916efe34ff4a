package main

import "errors"

func decidePreemption(given *Case) (any, error) { return nil, errors.New("todo") }
