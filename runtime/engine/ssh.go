package engine

import "errors"

func sshDialer(e endpoint, program string) (dialFunc, error) {
	return nil, errors.New("ssh endpoints are not supported yet")
}
